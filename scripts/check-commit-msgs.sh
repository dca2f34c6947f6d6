#!/bin/sh
# check-commit-msgs: the reference's name for a plumbing verb.
exec orchestrate plumbing check-commit-msgs "$@"
