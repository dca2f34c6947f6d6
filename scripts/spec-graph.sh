#!/bin/sh
# spec-graph: the reference's name for a plumbing verb.
exec orchestrate plumbing spec-graph "$@"
