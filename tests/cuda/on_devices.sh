#!/usr/bin/env bash
# Runs a test on the devices of HYBRID_DEVICES, by default on GPU 0 listed twice.
# Usage: on_devices.sh <command>...
export HYBRID_DEVICES=${HYBRID_DEVICES:-0,0}
exec "$@"
