#!/bin/sh
# check-ledger: the reference's name for a plumbing verb.
exec orchestrate plumbing check-ledger "$@"
