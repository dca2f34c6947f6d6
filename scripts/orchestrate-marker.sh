#!/bin/sh
# orchestrate-marker: the reference's name for a plumbing verb.
exec orchestrate plumbing orchestrate-marker "$@"
