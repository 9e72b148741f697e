/** Reads the variables of the operators' OpenID provider. Source: docs/decisions/operators.md. @module */
import type { OidcOptions } from '@payment-integration/console'
import { parseUrl } from '@payment-integration/contract'
import { isSecure } from './console-variables.js'
import { show, type Variables } from './variables.js'

/** Names of these variables. */
export const oidcVariables = [
  'PI_OIDC_ISSUER',
  'PI_OIDC_CLIENT_ID',
  'PI_OIDC_CLIENT_SECRET',
  'PI_OIDC_NAME_CLAIM',
] as const

/**
 * Reads the `PI_OIDC_…` variables; null without an issuer.
 * @param consoleUrl - Where the provider sends people back to; null: it is not set.
 */
export function readOidc({ text, problems }: Variables, consoleUrl: string | null): OidcOptions | null {
  const issuer = text('PI_OIDC_ISSUER')
  if (issuer === undefined) {
    for (const name of oidcVariables)
      if (text(name) !== undefined) problems.push(`${name} is set; it is only used with PI_OIDC_ISSUER.`)
    return null
  }
  if (consoleUrl === null)
    problems.push('PI_OIDC_ISSUER is set; it needs PI_CONSOLE_URL, to which the provider sends people back.')
  // The value is not shown: it may hold a password.
  if (!isIssuer(issuer))
    problems.push(
      'PI_OIDC_ISSUER is not usable; expected https://<host> without query, fragment or credentials (http:// only to this machine).',
    )
  const required = (name: 'PI_OIDC_CLIENT_ID' | 'PI_OIDC_CLIENT_SECRET') => {
    const value = text(name)
    if (value === undefined) problems.push(`${name} is not set; PI_OIDC_ISSUER needs it.`)
    return value ?? ''
  }
  const nameClaim = text('PI_OIDC_NAME_CLAIM') ?? 'email'
  if (!/^[\x21-\x7e]{1,128}$/.test(nameClaim))
    problems.push(
      `PI_OIDC_NAME_CLAIM is ${show(nameClaim)}; expected the name of a claim, such as email or preferred_username.`,
    )
  const [clientId, clientSecret] = [required('PI_OIDC_CLIENT_ID'), required('PI_OIDC_CLIENT_SECRET')]
  return { issuer, clientId, clientSecret, nameClaim }
}

function isIssuer(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && isSecure(url) && !/[?#]/.test(text) && url.username === '' && url.password === ''
}
