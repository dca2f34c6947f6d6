#!/bin/sh
# orchestrate-select: the reference's name for a plumbing verb.
exec orchestrate plumbing orchestrate-select "$@"
