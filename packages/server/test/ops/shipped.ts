/** The files of ops/ as data, and the environments that they give to our processes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { opsFolder } from './promtool.js'

/** A process that a file starts: its arguments and variables. */
export interface ShippedProcess {
  readonly name: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The compose file, with a value for each variable that it takes from the shell. */
export function readCompose(): ComposeFile {
  const text = readFileSync(join(opsFolder, 'docker/compose.yaml'), 'utf8')
  const filled = text.replaceAll(/\$\{\w+:[?][^}]*\}/g, 'https://node.example').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
  return parse(filled, { merge: true }) as ComposeFile
}

/** The parts of it that the tests read. */
export interface ComposeFile {
  readonly name: string
  readonly services: Readonly<Record<string, ComposeService>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

export interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
}

export function composeProcesses(): ShippedProcess[] {
  return Object.entries(readCompose().services)
    .filter(([, { image }]) => image === 'payment-integration')
    .map(([name, { command = ['serve'], environment = {} }]) => ({ name, args: command, env: environment }))
}

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: the schema of the kind checks it.
  readonly [field: string]: any
}

/** All objects of a folder, and the names of the files that hold them. */
export function readKubernetes(folder: 'serve' | 'migrate') {
  const path = join(opsFolder, 'kubernetes', folder)
  const files = readdirSync(path).filter((name) => name !== 'kustomization.yaml')
  const documents = files.flatMap((name) => parseAllDocuments(readFileSync(join(path, name), 'utf8')))
  const kustomization = parse(readFileSync(join(path, 'kustomization.yaml'), 'utf8')) as { resources: string[] }
  const objects = documents.map((each) => each.toJS() as KubernetesObject)
  return { files, resources: kustomization.resources, objects }
}

export function kubernetesProcesses(): ShippedProcess[] {
  const { objects } = readKubernetes('serve')
  const shared = objects.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>
  return [...objects, ...readKubernetes('migrate').objects].filter(hasPods).map(({ metadata, ['spec']: spec }) => {
    const [container] = spec.template.spec.containers
    const own = Object.fromEntries(container.env.map((one: { name: string; value: string }) => [one.name, one.value]))
    return { name: metadata.name, args: container.args, env: { ...(container.envFrom ? shared : {}), ...own } }
  })
}

/** Whether an object starts pods. */
export function hasPods({ kind }: KubernetesObject): boolean {
  return kind === 'Deployment' || kind === 'Job'
}

/** The variables of the systemd unit; `%d` is the folder of its credentials. */
export function unitProcess(): ShippedProcess & { readonly unit: string } {
  const unit = readFileSync(join(opsFolder, 'systemd/payment-integration.service'), 'utf8')
  const pairs = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '))
  const env = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]))
  const args = /^ExecStart=.*payment-integration\.js (.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
  return { name: 'systemd', args, env, unit }
}
