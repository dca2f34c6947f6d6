#!/bin/sh
# fleet-fence: the reference's name for a plumbing verb.
exec orchestrate plumbing fleet-fence "$@"
