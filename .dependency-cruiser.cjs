/**
 * Which module may import which. The rules are made from the tables below; an import that a table does not name is forbidden.
 * `npm run imports` applies them, and `tools/scripts/check-imports.slow.test.ts` shows each of them failing.
 */
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

/** What each workspace package may import from the others. Imports point one way: server -> adapters -> core -> contract. */
const packageArrows = {
  contract: [],
  webhook: [],
  'version-store': [],
  client: ['contract'],
  mirror: ['client', 'webhook', 'version-store'],
  'identity-sumsub': ['contract'],
  testing: ['contract', 'core', 'store-sql', 'server', 'identity-sumsub'],
  core: ['contract', 'webhook'],
  'store-sql': ['core', 'contract'],
  'chain-evm': ['core', 'contract'],
  'chain-feed': ['core', 'contract'],
  console: ['core', 'contract'],
  server: ['core', 'contract', 'store-sql', 'chain-evm', 'chain-feed', 'identity-sumsub', 'console'],
  cli: [
    'server',
    'client',
    'mirror',
    'webhook',
    'version-store',
    'chain-evm',
    'core',
    'contract',
    'testing',
    'identity-sumsub',
  ],
}

/** What each workspace package may import from npm in the code that it ships. Node's own modules are ruled separately. */
const npmArrows = {
  contract: ['zod'],
  webhook: [],
  'version-store': [],
  client: ['ky'],
  mirror: [],
  'identity-sumsub': [],
  testing: ['msw', 'undici'],
  core: ['lossless-json', 'zod'],
  'store-sql': ['kysely', 'pg', '@types/pg', '@photostructure/sqlite'],
  'chain-evm': ['viem', 'ws', 'hash-wasm'],
  'chain-feed': ['@nats-io/transport-node', '@nats-io/jetstream'],
  // uPlot is bundled into the script of the pages.
  console: ['hono', 'openid-client', 'uplot'],
  server: ['hono', '@hono/node-server', 'undici', 'pino', 'ipaddr.js', 'prom-client', '@opentelemetry/api'],
  // The demo receiver and the mirror open their databases as an integrator would.
  cli: ['commander', 'diff', 'picocolors', '@photostructure/sqlite', 'pg', '@types/pg'],
}

/** Optional peers that a package loads by `import()` where a setting asks for them. Types alone may be imported. */
const loadedOnDemand = {
  console: ['openid-client'],
  server: [
    '@hono/node-server',
    '@opentelemetry/api',
    'pino',
    'prom-client',
    ...['chain-evm', 'chain-feed', 'console', 'identity-sumsub', 'store-sql'].map((name) => `packages/${name}`),
  ],
}

/** Packages that must also run where there is no Node, except their files that the imports map chooses for Node. */
const runtimeNeutral = ['contract', 'client', 'mirror', 'webhook', 'version-store', 'identity-sumsub']
const forNode = '[.]node[.]ts$'

/** The folders that a package publishes; the group is the package's name. */
const shipped = '^packages/([^/]+)/src/'
/** Tests, and the configuration of a package: they import what they need. */
const notShipped = ['[.]test(-d)?[.]ts$', '^packages/[^/]+/(test|scripts)/', '^packages/[^/]+/[^/]+[.]ts$']
/** Suites that adapters of other packages run: shipped, and loaded by a test runner. */
const suites = ['\\bconformance/', '/conformance[.]ts$', '-conformance[.]ts$']

const literally = (text) => text.replaceAll('.', '[.]')
const oneOf = (names) => `(?:${names.join('|')})`
const inPackage = (name) => `^packages/${name}/`
const npm = (names) => `(?:^|/)node_modules/${oneOf(names.map(literally))}/`
const anyNpm = '(?:^|/)node_modules/'

/** Workspace packages that a package.json lists among its own dependencies. */
function listedWorkspacePackages(folder) {
  const manifest = JSON.parse(readFileSync(join(__dirname, 'packages', folder, 'package.json'), 'utf8'))
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    .filter((name) => name.startsWith('@payment-integration/'))
    .map((name) => name.slice('@payment-integration/'.length))
}

const folders = readdirSync(join(__dirname, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

const perPackage = folders.flatMap((name) => {
  const arrows = packageArrows[name]
  const fromNpm = npmArrows[name]
  if (!arrows || !fromNpm)
    throw new Error(`packages/${name} is in neither table of .dependency-cruiser.cjs; say there what it may import.`)
  const listed = listedWorkspacePackages(name)
  return [
    {
      name: `arrow-${name}`,
      comment: `${name} may import of the workspace: ${arrows.join(', ') || 'nothing'}.`,
      severity: 'error',
      from: { path: inPackage(name), pathNot: notShipped },
      to: { path: '^packages/', pathNot: inPackage(oneOf([name, ...arrows])) },
    },
    {
      name: `listed-${name}`,
      comment: `packages/${name}/package.json lists of the workspace: ${listed.join(', ') || 'nothing'}.`,
      severity: 'error',
      from: { path: inPackage(name), pathNot: notShipped },
      to: { path: '^packages/', pathNot: inPackage(oneOf([name, ...listed])) },
    },
    {
      name: `npm-${name}`,
      comment: `${name} may import from npm: ${fromNpm.join(', ') || 'nothing'}.`,
      severity: 'error',
      from: { path: inPackage(name), pathNot: [...notShipped, ...suites] },
      to: { path: anyNpm, ...(fromNpm.length ? { pathNot: npm(fromNpm) } : {}) },
    },
    {
      name: `npm-suite-${name}`,
      comment: `A suite of ${name} may import from npm: ${[...fromNpm, 'vitest'].join(', ')}.`,
      severity: 'error',
      from: { path: suites.map((suite) => `${inPackage(name)}.*${suite}`), pathNot: notShipped },
      to: { path: anyNpm, pathNot: npm([...fromNpm, 'vitest']) },
    },
  ]
})

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-ring',
      comment: 'A ring of imports, type-only ones included: move what both sides need into a third file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'Names no file and no package, or an entry that the exports map of the package does not list.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...perPackage,
    {
      name: 'no-path-between-packages',
      comment: 'Import another package by its name: its exports map decides what is public.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/', pathNot: notShipped },
      to: { path: '^packages/', pathNot: '^packages/$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'npm-listed',
      comment: 'An import from npm must stand in the dependencies of the importing package itself.',
      severity: 'error',
      from: { path: shipped, pathNot: notShipped },
      to: {
        path: anyNpm,
        // The build of store-sql contains it.
        pathNot: 'node_modules/kysely/',
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'undetermined'],
        // A peer is reported as both.
        dependencyTypesNot: ['npm-peer', 'npm-optional'],
      },
    },
    {
      name: 'no-node-built-in',
      comment: `These packages run outside Node too: ${runtimeNeutral.join(', ')}.`,
      severity: 'error',
      from: { path: inPackage(oneOf(runtimeNeutral)), pathNot: [...notShipped, forNode] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'viem-at-dev-only',
      comment: 'viem is an optional peer of the development chain. Nothing else needs it, its types included.',
      severity: 'error',
      from: { path: inPackage('chain-evm'), pathNot: ['/src/dev/', ...notShipped] },
      to: { path: npm(['viem']) },
    },
    ...Object.entries(loadedOnDemand).map(([name, optional]) => ({
      name: `on-demand-${name}`,
      comment: `An optional peer of ${name}: load it by import() through loadPackage, or import its types alone.`,
      severity: 'error',
      from: { path: inPackage(name), pathNot: notShipped },
      to: {
        path: `(?:^|/)${oneOf(optional.map((each) => (each.startsWith('packages/') ? each : `node_modules/${literally(each)}`)))}/`,
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    })),
    {
      name: 'service-at-the-twin-only',
      comment: 'Only the twin and the suites of testing import the service; the other entries but msw work without it.',
      severity: 'error',
      from: {
        path: `${inPackage('testing')}src/`,
        pathNot: [`${inPackage('testing')}src/(twin/|exports/twin[.]ts$)`, ...suites, ...notShipped],
      },
      to: { path: inPackage(oneOf(['core', 'store-sql', 'server', 'identity-sumsub'])) },
    },
    {
      name: 'no-test-in-shipped-code',
      comment: 'A test is not part of the package.',
      severity: 'error',
      from: { path: shipped, pathNot: notShipped },
      to: { path: notShipped },
    },
    {
      name: 'no-feature-to-exports',
      comment: 'src/exports lists features; a feature that imports the list makes a ring of meaning.',
      severity: 'error',
      from: { path: shipped, pathNot: ['^packages/[^/]+/src/exports/', ...notShipped] },
      to: { path: '^packages/$1/src/exports/' },
    },
    {
      name: 'no-feature-to-suite',
      comment: 'Only src/exports lists a suite: a feature that imports one loads a test runner.',
      severity: 'error',
      from: { path: shipped, pathNot: ['^packages/[^/]+/src/exports/', ...suites, ...notShipped] },
      to: { path: suites.map((suite) => `^packages/$1/src/.*${suite}`) },
    },
    {
      name: 'no-room-to-root',
      comment: 'The root of core composes its rooms: a room imports of it only errors and events.',
      severity: 'error',
      from: { path: '^packages/core/src/[^/]+/', pathNot: ['^packages/core/src/exports/', ...notShipped] },
      to: { path: '^packages/core/src/[^/]+$', pathNot: '/(errors|events)[.]ts$' },
    },
    {
      name: 'internal-stays-internal',
      comment: 'A file under internal/ is not public: list another file, or move this one out.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/exports/', pathNot: ['/exports/internal[.]ts$', ...notShipped] },
      to: { path: '^packages/[^/]+/src/.*\\binternal/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    // Templates are texts that `init` writes into projects, where their imports resolve.
    exclude: { path: '^(packages|examples)/[^/]+/(dist/|templates/|coverage/|[.]next/|next-env[.]d[.]ts$)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // Workspace packages resolve to their sources, so that an arrow between packages is an arrow between files.
      conditionNames: ['@payment-integration/source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
}
