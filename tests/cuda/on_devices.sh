#!/usr/bin/env bash
# Runs a test on the devices of HYBRID_DEVICES, or on GPU 0 as if it were two.
# Usage: on_devices.sh <command>...
export HYBRID_DEVICES=${HYBRID_DEVICES:-0,0}
exec "$@"
