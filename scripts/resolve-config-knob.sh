#!/bin/sh
# resolve-config-knob: the reference's name for a plumbing verb.
exec orchestrate plumbing resolve-config-knob "$@"
