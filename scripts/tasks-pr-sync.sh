#!/bin/sh
# tasks-pr-sync: the reference's name for a plumbing verb.
exec orchestrate plumbing tasks-pr-sync "$@"
