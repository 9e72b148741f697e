/**
 * Runs the benches and prints their tables as Markdown. Usage: npm run bench [-- --smoke]
 * `--smoke` shows on small data that everything runs; its figures mean nothing.
 * @module
 */
import { table } from './measure.js'
import { benchPages } from './pages.js'
import { benchSignature } from './signature.js'

const smoke = process.argv.includes('--smoke')
const effort = smoke ? { rounds: 1, roundMs: 0, iterations: 5 } : { rounds: 7, roundMs: 300, iterations: 20 }
const payments = smoke ? 2_000 : 200_000

const { bodyBytes, rows } = await benchSignature(effort)
console.log(table(`Signature over ${bodyBytes} bytes`, rows))

const { byIntegration, byWallet } = await benchPages(payments, effort)
const size = payments.toLocaleString('en')
console.log(table(`Page of 50 of one integration, ${size} payments, SQLite`, byIntegration))
console.log(table(`Page of 50 of one wallet (either side), ${size} payments, SQLite`, byWallet))
