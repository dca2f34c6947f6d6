#!/bin/sh
# spec-status: the reference's name for a plumbing verb.
exec orchestrate plumbing spec-status "$@"
