#!/bin/sh
# resolve-overlay-root: the reference's name for a plumbing verb.
exec orchestrate plumbing resolve-overlay-root "$@"
