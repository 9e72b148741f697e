/** @type {import('next').NextConfig} */
export default {
  // A native module: Next must load it, not bundle it.
  serverExternalPackages: ['@photostructure/sqlite'],
  // The types of this repository are checked by its own command.
  typescript: { ignoreBuildErrors: true },
}
