import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { expect, onTestFinished, test } from 'vitest'
import { donor, service } from './support.js'

const blocks = [...readFileSync(new URL('../README.md', import.meta.url), 'utf8').matchAll(/```js\n(.*?)```/gs)]
const [mintLines = '', serviceLines = ''] = blocks.map(([, code = '']) => code)

async function run(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const options = { cwd, timeout: 300_000, env: { ...process.env, ...env } }
  return (await promisify(execFile)(process.execPath, flags, options)).stdout
}

test('the lines of the README mint a token for the service, and redeem it there', async () => {
  const local = await startIdentityProvider({ clients: [donor, service] })
  onTestFinished(() => local.close())
  const { id } = local.addApplicant({ clientId: 'DonorCo' })
  const credentials = ({ appToken, secretKey }: typeof donor | typeof service) => ({
    SUMSUB_URL: local.url,
    SUMSUB_APP_TOKEN: appToken,
    SUMSUB_SECRET_KEY: secretKey,
  })
  const minted = await run(mintLines, { ...credentials(donor), APPLICANT_ID: id, SERVICE_CLIENT_ID: 'ServiceCo' })
  const shareToken = minted.trim()
  const redeemed = await run(serviceLines, { ...credentials(service), SUMSUB_LEVEL: 'basic', SHARE_TOKEN: shareToken })
  expect(local.redemptions).toMatchObject([{ token: shareToken, externalUserId: 'redemption:1' }])
  expect(redeemed).toContain("reviewStatus: 'pending'")
})
