#!/bin/sh
# Runs a command with the variables and the key of the unit, as root: payment-integration status
exec systemd-run --quiet --pipe --wait --collect --same-dir \
  --setenv=NODE_ENV=production \
  --setenv=PI_DATABASE_URL=sqlite:/var/lib/payment-integration/payments.db \
  --setenv=PI_MASTER_KEY_FILE=/etc/payment-integration/master-key \
  --property=EnvironmentFile=-/etc/payment-integration/environment \
  --property=UMask=0077 \
  /usr/bin/node /opt/payment-integration/node_modules/@payment-integration/cli/bin/payment-integration.js "$@"
