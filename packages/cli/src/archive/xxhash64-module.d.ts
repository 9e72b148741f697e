/** The file of one hash of `hash-wasm`, for which the package has no types. */
declare module 'hash-wasm/dist/xxhash64.umd.min.js' {
  const hashes: Pick<typeof import('hash-wasm'), 'createXXHash64'>
  export default hashes
}
