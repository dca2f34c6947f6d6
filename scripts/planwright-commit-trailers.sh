#!/bin/sh
# planwright-commit-trailers: the reference's name for a plumbing verb.
exec orchestrate plumbing planwright-commit-trailers "$@"
