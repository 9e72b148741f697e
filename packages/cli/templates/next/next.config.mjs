/** @type {import('next').NextConfig} */
const config = {
  // A native module: Next loads it, and does not bundle it.
  serverExternalPackages: ['@photostructure/sqlite'],
}

export default config
