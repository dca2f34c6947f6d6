#!/bin/sh
# spec-anchor: the reference's name for a plumbing verb.
exec orchestrate plumbing spec-anchor "$@"
