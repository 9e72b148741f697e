/** The Keccak file of `hash-wasm`, for which the package has no types. */
declare module 'hash-wasm/dist/keccak.umd.min.js' {
  const hashes: Pick<typeof import('hash-wasm'), 'createKeccak'>
  export default hashes
}
