#!/bin/sh
# Writes new secrets into the folder secrets beside compose.yaml. It overwrites none.
set -eu
cd "$(dirname "$0")"
folder=${1:-secrets}
mkdir -p "$folder"
if [ -e "$folder/master_key" ]; then
  echo "$folder/master_key exists; nothing was written." >&2
  exit 1
fi
password=$(openssl rand -hex 24)
umask 077
openssl rand -hex 32 >"$folder/master_key"
printf '%s' "$password" >"$folder/postgres_password"
printf 'postgres://payments:%s@postgres:5432/payments\n' "$password" >"$folder/database_url"
printf 'postgres://payments:%s@pgbouncer:6432/payments\n' "$password" >"$folder/database_url_pooled"
printf '"payments" "%s"\n' "$password" >"$folder/pgbouncer_users"
# Compose mounts the files as they are; the users inside the containers are not the owner.
chmod 0444 "$folder"/*
chmod 0700 "$folder"
echo "Keep $folder/master_key outside this machine, too: without it no stored secret can be decrypted."
