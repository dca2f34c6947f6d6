#!/bin/sh
# spec-validate: the reference's name for a plumbing verb.
exec orchestrate plumbing spec-validate "$@"
