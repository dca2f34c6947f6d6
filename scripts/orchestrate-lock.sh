#!/bin/sh
# orchestrate-lock: the reference's name for a plumbing verb.
exec orchestrate plumbing orchestrate-lock "$@"
