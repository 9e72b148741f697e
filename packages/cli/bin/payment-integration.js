#!/usr/bin/env node
// A file that is there before any build, so that installing a clone links the command.
import { existsSync } from 'node:fs'

const built = new URL('../dist/bin.js', import.meta.url)
if (existsSync(built)) await import(built.href)
else {
  process.stderr.write('payment-integration is not built yet; run `npm run build` in the repository, then try again.\n')
  process.exitCode = 1
}
