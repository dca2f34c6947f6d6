#!/bin/sh
# dispatch-fetch: the reference's name for a plumbing verb.
exec orchestrate plumbing dispatch-fetch "$@"
