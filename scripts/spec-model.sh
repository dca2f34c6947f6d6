#!/bin/sh
# spec-model: the reference's name for a plumbing verb.
exec orchestrate plumbing spec-model "$@"
