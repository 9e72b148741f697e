/**
 * Compiles the package's Solidity files into TypeScript: `contracts/*.sol` for the dev chain, `contracts/test/*.sol`
 * for tests. Run it after a change: `node packages/chain-evm/scripts/compile-contracts.mjs`. With `--check` it writes
 * nothing and exits with 1 when a generated file is not what the sources give; a test runs that.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import solc from 'solc'

/** The generated files and the folders of their sources. */
const outputs = [
  { folder: 'contracts', file: 'src/dev/contracts.generated.ts' },
  { folder: 'contracts/test', file: 'test/contracts.generated.ts' },
]

const packageUrl = new URL('../', import.meta.url)

/** The text of the generated file for the Solidity files of one folder. @param {string} folder */
function compileFolder(folder) {
  const directory = new URL(`${folder}/`, packageUrl)
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.sol'))
    .sort()
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      names.map((name) => [name, { content: readFileSync(new URL(name, directory), 'utf8') }]),
    ),
    settings: {
      // Paris has no PUSH0, so the contracts run on every hard fork that a development node may be set to.
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 200 },
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  const errors = (output.errors ?? []).filter((error) => error.severity === 'error')
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const contracts = names
    .flatMap((name) => Object.entries(output.contracts[name] ?? {}))
    .filter(([, contract]) => contract.evm.bytecode.object !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const text = contracts.map(([name, contract]) => {
    const constant = name[0].toLowerCase() + name.slice(1)
    return [
      `/** ABI and creation code of ${name}. */`,
      `export const ${constant} = {`,
      `  abi: ${JSON.stringify(contract.abi)},`,
      `  bytecode: '0x${contract.evm.bytecode.object}',`,
      '} as const',
    ].join('\n')
  })
  return `// Made by scripts/compile-contracts.mjs from ${folder}/*.sol. Do not edit.\n\n${text.join('\n\n')}\n`
}

for (const { folder, file } of outputs) {
  const text = compileFolder(folder)
  const url = new URL(file, packageUrl)
  if (!process.argv.includes('--check')) writeFileSync(url, text)
  else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${file} is not what ${folder}/*.sol compiles to; run this script without --check.`)
    process.exitCode = 1
  }
}
