#!/bin/sh
# migrate-format-version: the reference's name for a plumbing verb.
exec orchestrate plumbing migrate-format-version "$@"
