#!/bin/sh
# resolve-catalog: the reference's name for a plumbing verb.
exec orchestrate plumbing resolve-catalog "$@"
