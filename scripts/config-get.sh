#!/bin/sh
# config-get: the reference's name for a plumbing verb.
exec orchestrate plumbing config-get "$@"
