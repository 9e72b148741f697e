/** Acts in Chromium: live progress, the Stop button, forms without JavaScript, and no axe violation. */
import { explainDelivery, parseHeaders } from '@payment-integration/testing/explain'
import type { Twin, TwinIntegration } from '@payment-integration/testing/twin'
import { expect, it } from 'vitest'
import { describeInChromium } from '../../test/browser-suite.js'
import { getFlaws, looks } from '../../test/chromium.js'
import { type Console, createConsole } from '../create-console.js'

const hostile = `<script>alert(1)</script>\u202e${'x'.repeat(400)}`

let shop: TwinIntegration
let payment: string
/** Lets the running scenario go on. */
let goOn = (): void => undefined

async function* scenario() {
  for (let n = 1; n <= 3; n += 1) {
    yield { event: 'block', chainId: '137', blockNumber: n, txHashes: [`0x${'ab'.repeat(32)}`] }
    if (n === 2) yield { event: 'failed', reason: hostile }
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
  }
}

async function build(twin: Twin): Promise<Console> {
  shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  for (let n = 0; n < 3; n += 1) {
    const paid = await twin.pay({ chainId: 137, integrationAddress: shop.address, memo: `order-${n}` })
    await twin.update(paid, { state: 'success' })
    payment = `/payments/${paid.chainId}/${paid.txHash}`
  }
  return createConsole({
    service: twin.service,
    clock: twin.clock,
    tools: {
      trigger: { chainIds: [137], run: () => scenario() },
      async doctor({ onProbe }) {
        onProbe({ name: 'forged', verdict: 'fail', sent: hostile, expected: '4xx', evidence: hostile })
        const fix = { summary: 'Verify before you act.' }
        const finding = { verdict: 'fail', sentence: 'Forged ones are accepted.', probes: ['forged'], fix } as const
        return { passed: 0, failed: 1, warned: 0, notRun: 0, findings: [finding] }
      },
      explain({ headers, body, receivedAt }) {
        const clock = { now: () => receivedAt }
        return explainDelivery({ headers: parseHeaders(headers), body, secrets: [shop.signingSecret], clock })
      },
    },
  })
}

describeInChromium('acts', { seed: 12, startMs: Date.now() - 60_000 }, build, (suite) => {
  const getUrl = (path: string) => `${suite.origin}/console${path}`
  const open = async (options?: Parameters<typeof suite.open>[0]) => (await suite.open(options)).page

  for (const { width, colorScheme } of looks)
    it(`at ${width} px, ${colorScheme}: each act is reached by its buttons, and axe finds nothing on its pages`, async () => {
      const page = await open({ viewport: { width, height: 900 }, colorScheme })
      const look = async (name: string) => expect(await getFlaws(page, `${name}-${width}-${colorScheme}`)).toEqual([])
      const goTo = (path: string) => page.goto(getUrl(path))
      const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
      const run = async (name: string | RegExp, job: string) => {
        await press(name)
        await page.locator('h1 .badge', { hasText: 'done' }).waitFor()
        await look(job)
      }
      await goTo(payment)
      await look('payment')
      await goTo('/deliveries?status=delivered')
      await look('deliveries')
      await page.getByRole('link', { name: 'Replay all of these' }).click()
      await look('replay-many')
      await run(/^Replay 6 deliveries/, 'replay-many-job')
      await suite.twin.advance(0)
      await goTo('/chains')
      await page.getByLabel('First block').first().fill('0')
      await look('chains')
      await run('Dry run', 'reindex-job')
      await goTo('/audit')
      await look('audit')
      await run('Check all records', 'audit-job')
      await goTo('/tools')
      await look('tools')
      await run('Run the tests', 'doctor-job')
      await goTo('/tools')
      await page.getByLabel('Headers').fill(`X-Service-Signature: t=1,v1=${'ab'.repeat(32)}`)
      await page.getByLabel('Body').fill(`{ "a": "</textarea>${hostile}" }`)
      await press('Explain')
      await page.getByText('A receiver rejects this delivery.').waitFor()
      await look('explain')
      await goTo('/jobs')
      await look('jobs')
    })

  it('progress appears by itself, survives a reload, and the Stop button ends the job', async () => {
    const page = await open()
    await page.goto(getUrl('/tools'))
    await page.getByRole('button', { name: 'Run scenario' }).click()
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    await page.locator('#job tr', { hasText: 'Block 1' }).waitFor()
    goOn()
    await page.locator('#job tr', { hasText: 'Block 2' }).waitFor()
    expect(await page.locator('progress').count()).toBe(1)
    expect(await page.locator('#job').innerHTML()).not.toContain('<script')
    await page.reload()
    await page.locator('#job tr', { hasText: 'Block 2' }).waitFor()
    expect(await getFlaws(page, 'job')).toEqual([])
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('h1 .badge', { hasText: 'stopping' }).waitFor()
    goOn()
    await page.locator('h1 .badge', { hasText: 'stopped' }).waitFor()
    expect(await page.locator('progress').count()).toBe(0)
  })

  it('without JavaScript an act is done, and its result is there after a reload', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(getUrl('/tools'))
    await page.getByRole('button', { name: 'Run scenario' }).click()
    await page.waitForURL(/\/jobs\//)
    await page.getByRole('link', { name: 'Load this page again' }).click()
    await page.locator('#job tr', { hasText: 'Block 1' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    goOn()
    await page.goto(getUrl(payment))
    await page.getByRole('link', { name: 'Replay…' }).last().click()
    await page.getByRole('button', { name: 'Replay 1 delivery' }).click()
    await page.getByText('The delivery is due now.').waitFor()
  })
})
