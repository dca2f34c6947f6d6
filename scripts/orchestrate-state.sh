#!/bin/sh
# orchestrate-state: the reference's name for a plumbing verb.
exec orchestrate plumbing orchestrate-state "$@"
