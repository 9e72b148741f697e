/** The alert rules, their runbooks and the dashboard. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { type RunningServer, startServer } from '../../src/run/start-server.js'
import { tempConfig } from '../support/temp-config.js'
import { opsFolder, promtool, promtoolMissing } from './promtool.js'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string }
}

const rulesFile = join(opsFolder, 'prometheus/alerts.yaml')
const testsFile = join(opsFolder, 'prometheus/alerts.test.yaml')
const runbooks = join(opsFolder, '../docs/runbooks')
const groups = (parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }).groups
const rules = groups.flatMap((group) => group.rules)

/** `DeliveriesLate` is on the page `deliveries-late`. */
const getPage = (alert: string) => `${alert.replaceAll(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.md`

describe.skipIf(promtoolMissing !== null)(`the rules, by promtool${promtoolMissing ?? ''}`, () => {
  it('are valid', () => {
    expect(promtool('check', 'rules', rulesFile)).toMatchObject({ code: 0 })
  })

  it('fire while their fault lasts and are resolved after it, each of them', () => {
    expect(promtool('test', 'rules', testsFile)).toEqual({ code: 0, output: expect.stringContaining('SUCCESS') })
    const tests = (parse(readFileSync(testsFile, 'utf8')) as { tests: { alert_rule_test: AlertTest[] }[] }).tests
    const checks = tests.map(({ alert_rule_test: all }) => all)
    for (const { alert } of rules) {
      const own = checks.find((all) => all.every(({ alertname }) => alertname === alert)) ?? []
      const fires = own.map(({ exp_alerts: expected }) => expected.length > 0)
      expect([fires.at(0), fires.includes(true), fires.at(-1)], alert).toEqual([false, true, false])
    }
  })
})

interface AlertTest {
  readonly alertname: string
  readonly exp_alerts: readonly unknown[]
}

describe('a runbook', () => {
  it('belongs to each alert, and each one to an alert', () => {
    const pages = readdirSync(runbooks).filter((name) => name !== 'README.md')
    expect(pages.toSorted()).toEqual(rules.map(({ alert }) => getPage(alert)).toSorted())
    for (const { alert, annotations } of rules) expect(annotations.runbook).toBe(`docs/runbooks/${getPage(alert)}`)
  })

  it.each(rules)(
    'of $alert says what it means, how to see it and what to do, and the list has it',
    ({ alert, labels }) => {
      const [page, list] = [getPage(alert), 'README.md'].map((name) => readFileSync(join(runbooks, name), 'utf8'))
      expect(page).toMatch(/^# \w+\n\n[A-Z][^#]*\n\n## How to see it\n\n- [^#]*\n\n## What to do\n\n1[.] /)
      expect(page?.startsWith(`# ${alert}\n`)).toBe(true)
      expect(list).toContain(`| [${alert}](${getPage(alert)}) | ${labels.severity} |`)
    },
  )
})

/** Names of all metrics, also of those without a sample yet. */
function metricNames(text: string): ReadonlySet<string> {
  const names = text.split('\n').flatMap((line) => /^# TYPE (\S+) (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? [])
  const parts = (each: string) => {
    const [name = '', type] = each.split(' ')
    return type === 'histogram' || type === 'summary'
      ? [`${name}_bucket`, `${name}_sum`, `${name}_count`, name]
      : [name]
  }
  return new Set(names.flatMap(parts))
}

describe('every metric of the files is in an answer of a running server', () => {
  let server: RunningServer
  let remove: () => Promise<void>
  let names: ReadonlySet<string>
  beforeAll(async () => {
    const token = 'a-token-of-the-tests'
    const made = await tempConfig({ PI_METRICS_TOKEN: token })
    remove = made.remove
    server = await startServer(made.config)
    const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    names = metricNames(await answer.text())
  })
  afterAll(async () => {
    await server.stop()
    await remove()
  })

  /** Prometheus makes `up` itself, one series per scraped process. */
  const unknown = (text: string) =>
    [...text.matchAll(/\b(?:payment_integration|process|nodejs)_\w+/g)]
      .map(([name]) => name)
      .filter((name) => !names.has(name))

  test('the rules, their tests and the runbooks', () => {
    expect(rules.length).toBeGreaterThan(10)
    const pages = readdirSync(runbooks).map((name) => join(runbooks, name))
    for (const file of [testsFile, ...pages]) expect(unknown(readFileSync(file, 'utf8')), file).toEqual([])
    for (const { alert, expr } of rules) expect(unknown(expr), alert).toEqual([])
  })

  test('the dashboard, whose panels have titles and queries', () => {
    const text = readFileSync(join(opsFolder, 'grafana/payment-integration.json'), 'utf8')
    const { panels } = JSON.parse(text) as { panels: { id: number; type: string; title: string; targets: object[] }[] }
    expect(unknown(text)).toEqual([])
    const charts = panels.filter(({ type }) => type !== 'row')
    expect(charts.length).toBeGreaterThan(15)
    for (const { title, targets } of charts) {
      expect(title).toMatch(/^[A-Z0-9]/)
      expect(targets.length, title).toBeGreaterThan(0)
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })
})
