#!/bin/sh
# resolve-rule-doc: the reference's name for a plumbing verb.
exec orchestrate plumbing resolve-rule-doc "$@"
