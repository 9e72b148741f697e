/** Rules that matter, each with a change that breaks it and the test file that must fail. @module */

/** A change of one text in one source file. */
export interface Mutant {
  /** The rule that the change breaks. */
  readonly rule: string
  readonly file: string
  /** Occurs once in the file. */
  readonly from: string
  readonly to: string
  /** The test file that must fail. */
  readonly test: string
  /** Text in the names of the tests to run. @default all tests of the file */
  readonly only?: string | undefined
}

/** @param changes - The text and its replacement, by rule. */
function inFile(
  file: string,
  test: string,
  changes: Readonly<Record<string, readonly [string, string]>>,
  only?: string,
): Mutant[] {
  const paths = { file: `packages/${file}`, test: `packages/${test}` }
  return Object.entries(changes).map(([rule, [from, to]]) => ({ rule, ...paths, from, to, only }))
}

export const mutants: readonly Mutant[] = [
  // Receivers
  ...inFile('webhook/src/internal/hmac.node.ts', 'webhook/src/verify-signature.test.ts', {
    'a code of other bytes or of another secret is rejected': ['timingSafeEqual(Buffer.from(code), expected)', 'true'],
  }),
  ...inFile('webhook/src/internal/hmac.web.ts', 'webhook/src/vectors.isolated.test.ts', {
    'Web Crypto rejects a wrong code': ['return !difference', 'return true'],
  }),
  ...inFile('webhook/src/internal/fresh-signature-header.ts', 'webhook/src/verify-signature.test.ts', {
    'a delivery from the future is rejected': ['Math.abs(ageSeconds)', 'ageSeconds'],
    'the last second of the tolerance is accepted': ['<= toleranceSeconds', '< toleranceSeconds'],
  }),
  ...inFile('webhook/src/internal/fresh-signature-header.ts', 'webhook/src/internal/fresh-signature-header.test.ts', {
    'a header with two times is rejected': ['times.length !== 1', 'times.length === 0'],
  }),
  ...inFile('webhook/src/snapshot.ts', 'webhook/src/vectors.isolated.test.ts', {
    'a currency is three capital letters': ['const currency = /^[A-Z]{3}$/', 'const currency = /^[A-Za-z]{3}$/'],
  }),
  ...inFile('version-store/src/version-store.ts', 'version-store/src/decide-version.test.ts', {
    'an equal version is not applied again': ['incoming > stored', 'incoming >= stored'],
  }),
  ...inFile('version-store/src/redis-version-store.ts', 'version-store/test/redis.test.ts', {
    'an effect whose lease was taken over is not committed': [
      "if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 'lost' end",
      '',
    ],
  }),
  ...inFile('client/src/reconcile/compare.ts', 'client/test/reconcile.test.ts', {
    'a missed version is repaired': ['storedVersion === payment.version', 'storedVersion !== null'],
  }),
  ...inFile('client/src/amounts.ts', 'client/src/amounts.test.ts', {
    'amounts of different scale compare by value': ['scaleUnits(places, left), scaleUnits(', 'left.units, scaleUnits('],
  }),
  ...inFile('mirror/src/mirror.ts', 'mirror/test/mirror.test.ts', {
    'a delivery for another integration is not stored': [
      'if (snapshot.integrationAddress !== integrationAddress)',
      'if (snapshot.integrationAddress === null)',
    ],
  }),

  // Payments
  ...inFile('core/src/payments/change-status.ts', 'core/src/payments/change-status.test.ts', {
    'a completed refund is the end': ['refund_success: []', "refund_success: ['refund_failure']"],
    'a success becomes no failure': ['success: refunds', "success: ['failure', ...refunds]"],
  }),
  ...inFile('core/src/payments/change-status.ts', 'core/src/payments/change-status.test.ts', {
    'each accepted change adds one version': ['=> version + 1', '=> version'],
    'a change of the invoice alone is a change': [
      '[recipient, invoice], [status.recipient, status.invoice]',
      '[recipient], [status.recipient]',
    ],
  }),
  ...inFile('core/src/payments/store-payments.ts', 'core/src/payments/store-payments.test.ts', {
    'the lowest payment of a transaction is shown': ['facts.ordinal < current', 'facts.ordinal > current'],
  }),
  ...inFile('core/src/payments/payment.ts', 'core/src/payments/payment.test.ts', {
    'the decimals of a token place the point': ['digits.length - decimals', 'digits.length - decimals + 1'],
  }),
  ...inFile('core/src/payments/change-status.ts', 'core/src/payments/change-status.test.ts', {
    'the fields of a snapshot keep their order': [
      'version: status.version,\n    state: status.state',
      'state: status.state,\n    version: status.version',
    ],
  }),
  ...inFile('store-sql/src/payments/snapshots.ts', 'store-sql/src/payments/packed-body.test.ts', {
    'a snapshot that would be rebuilt of other bytes is stored whole': [" || text.includes('\\ufffd')", ''],
  }),
  ...inFile('core/src/internal/parameters.ts', 'core/src/internal/parameters.test.ts', {
    'a page has at most 200 payments': ['limit <= pageLimit.max', 'limit <= pageLimit.max + 1'],
  }),
  ...inFile('core/src/payments/cursor.ts', 'core/src/payments/cursor.test.ts', {
    'a cursor is authenticated': ['timingSafeEqual(computeMac(key, signed, scope), givenMac)', 'true'],
    'a cursor belongs to its integration': ['`${integrationAddress}|${wallet}`', '`|${wallet}`'],
    'a cursor belongs to its list': ['|${wallet}`', '|`'],
  }),
  ...inFile('core/src/payments/change-status.ts', 'core/src/payments/record-range.test.ts', {
    'a payment off the chain fails only once its height is final': [
      'const atOrBelow = indexedTo - finalityBlocks',
      'const atOrBelow = indexedTo - finalityBlocks + 1',
    ],
  }),
  ...inFile('core/src/indexer/reorganize.ts', 'core/src/indexer/reorganize.test.ts', {
    'a reorg below a final block is not followed': [
      'throw new DeepReorgError(',
      'return ancestor ?? new DeepReorgError(',
    ],
  }),
  ...inFile('core/src/payments/apply-updates.ts', 'store-sql/test/use-cases.sqlite.test.ts', {
    'an update that fits several payments is rejected': ['others.length > 0', 'others.length > 1'],
  }),
  ...inFile('core/src/payments/apply-updates.ts', 'store-sql/test/use-cases.sqlite.test.ts', {
    'an id that comes again with another content is a conflict': [
      'stored.fingerprint !== fingerprint',
      'stored.id === ""',
    ],
  }),
  ...inFile('store-sql/src/payments/integration-payments.ts', 'server/src/app/two-tenants.slow.test.ts', {
    'a look-up by hash finds payments of the caller alone': [
      ".where('integration', '=', value('integration'))\n      // Hides",
      ".where(sql<boolean>`coalesce(integration, ${value('integration')}) is not null`)\n      // Hides",
    ],
  }),
  ...inFile('contract/src/primitives.ts', 'contract/src/payment.test.ts', {
    'an amount has no leading zero': ['(0|[1-9][0-9]*)(', '([0-9]+)('],
  }),

  // Authentication
  ...inFile('core/src/integrations/authenticate.ts', 'core/src/integrations/authenticate.test.ts', {
    'a disabled integration is rejected': ['isWellFormed && isUsable &&', 'isWellFormed &&'],
    'a rotated secret ends with its grace time': ['(isPrevious && isPreviousValid)', 'isPrevious'],
  }),
  ...inFile('core/src/integrations/authenticate.ts', 'core/src/integrations/authenticate.test.ts', {
    'base64 with spare bits is rejected': ['isCanonical && colon >= 0', 'colon >= 0'],
  }),
  ...inFile('core/src/integrations/authenticate.ts', 'core/src/integrations/authenticate.test.ts', {
    'a cached result is used for a quarter of a second': [
      'now - entry.since < credentialCacheMs',
      'now >= entry.since',
    ],
  }),
  ...inFile('core/src/legacy/keys.ts', 'core/src/legacy/keys.test.ts', {
    'a revoked legacy key is rejected': [' || record.revokedAt !== null', ''],
  }),
  ...inFile('server/src/app/guard.ts', 'server/src/app/clauses-authentication.test.ts', {
    'every 401 is the same': [
      'answerUnauthorized(basicChallenge)',
      'answerUnauthorized(getAuthorization(c) ? bearerChallenge : basicChallenge)',
    ],
  }),
  ...inFile('server/src/limits/request-limits.ts', 'server/src/limits/rate.test.ts', {
    'a request over the rate waits': ['waitMs > roundingMs ? waitMs : 0', '0'],
  }),
  ...inFile('server/src/limits/request-limits.ts', 'server/src/limits/source.test.ts', {
    'only a trusted proxy names the source of a request': ['end > 0 && isTrusted(address)', 'end > 0'],
  }),
  ...inFile('core/src/operators/operator-sessions.ts', 'core/src/operators/operator-sessions.test.ts', {
    'a session of an operator ends': ['isExpired(stored.session.expiresAt, clock.now(), sessionMs)', 'false'],
  }),
  ...inFile('core/src/integrations/integration-sessions.ts', 'core/src/integrations/integration-sessions.test.ts', {
    'a session of an integration ends with its secret': [
      'return apiSecret.hash === hash || (previousApiSecret?.hash === hash && now < previousApiSecret.until)',
      'return now > 0 || previousApiSecret?.hash === hash',
    ],
  }),
  ...inFile('core/src/operators/operator-sessions.ts', 'core/src/operators/sign-in-limits.test.ts', {
    'five failures close the sign-in of a name': ['window.failures >= limit', 'window.failures > limit'],
  }),
  ...inFile('core/src/operators/operator-commands.ts', 'console/src/session/sign-in.test.ts', {
    'a form carries the CSRF token of its session': [
      'expected.length === bytes.length && timingSafeEqual(expected, bytes)',
      'expected.length > bytes.length - timingSafeEqual.length',
    ],
  }),
  ...inFile('console/src/web/guard.ts', 'console/src/rules.test.ts', {
    'a form comes from the own origin': ['origin !== null && allowedOrigins.includes(origin)', 'origin !== null'],
  }),
  ...inFile('console/src/viewer.ts', 'console/src/pages/access.test.ts', {
    'an act needs the rank of its role': ['ranks[role] >= ranks[needed]', 'ranks[role] >= 0 * ranks[needed]'],
  }),
  ...inFile('console/src/portal/integration-scope.ts', 'console/src/portal/two-tenants.test.ts', {
    'the portal replays deliveries of its integration alone': [
      'replay(deliveryId, { integrationAddress: address })',
      'replay(deliveryId)',
    ],
  }),

  // Notifications
  ...inFile('core/src/notifications/retry-schedule.ts', 'core/src/notifications/retry-schedule.test.ts', {
    'the fourth retry follows after ten minutes': ['120, 600, 1_800', '120, 1_200, 1_800'],
    'Retry-After postpones by an hour at most': ['Math.min(retryAfterMs ?? 0, maxRetryAfterMs)', 'retryAfterMs ?? 0'],
    'the answer 410 ends a delivery': ['result.status === 410', 'result.status === 411'],
  }),
  ...inFile('contract/src/foreign-text.ts', 'contract/src/foreign-text.test.ts', {
    'a two-digit year lies within fifty years': ['year > current + 50', 'year > current + 60'],
  }),
  ...inFile('core/src/notifications/attempt.ts', 'core/src/notifications/attempt.test.ts', {
    'no POST begins that its lease cannot cover': [
      'startedAt + deliveryTimeoutMs <= leaseEndsAt',
      'startedAt <= leaseEndsAt',
    ],
  }),
  ...inFile('core/src/notifications/endpoint-health.ts', 'core/src/notifications/endpoint-health.test.ts', {
    'a blocked endpoint is judged by its probes': [
      'failures < failuresUntilBlock : !probe',
      'failures < failuresUntilBlock : false',
    ],
  }),
  ...inFile(
    'store-sql/src/deliveries/settle.ts',
    'store-sql/test/conformance.sqlite.test.ts',
    {
      'an attempt without its lease settles nothing': [' || row.claim_token !== token.stored', ''],
    },
    'SQLite',
  ),
  ...inFile(
    'store-sql/src/deliveries/settle.ts',
    'store-sql/test/conformance.sqlite.test.ts',
    {
      'a newer version supersedes a failed delivery': ['n.version > s.version', 'n.version < s.version'],
    },
    'SQLite',
  ),
  ...inFile('store-sql/src/deliveries/delivery-lists.ts', 'store-sql/src/deliveries/missing.test.ts', {
    'a delivery in the outbox is not missing': ['and ${pending} is null and', 'and ${pending} is not null and'],
  }),
  ...inFile(
    'store-sql/src/chains/checkpoints.ts',
    'store-sql/test/conformance.sqlite.test.ts',
    {
      'a lease is not taken before it ends': ['l.expires_at <= ${dialect.now()} or', 'l.expires_at >= 0 or'],
    },
    'SQLite',
  ),
  ...inFile('core/src/internal/lease.ts', 'core/src/internal/lease.test.ts', {
    'a process holds a lease no longer than it lasts': [
      'isActive: () => computeAgeMs() < ttlMs',
      'isActive: () => computeAgeMs() < 2 * ttlMs',
    ],
  }),
  ...inFile('server/src/sender/guarded-connector.ts', 'server/src/sender/address-table.test.ts', {
    'a notification reaches no private address': [
      "address.range() === 'unicast' && !rejected",
      "address.range() !== 'loopback' && !rejected",
    ],
  }),
  ...inFile('server/src/sender/guarded-connector.ts', 'server/src/sender/hostile-dns.test.ts', {
    'an address of a name is checked before the connection': [
      'addresses.filter(({ address }) => isAllowed(address))',
      'addresses.filter(({ address }) => address)',
    ],
  }),

  // History and secrets
  ...inFile('core/src/history/retention.ts', 'core/src/history/retention.test.ts', {
    'attempts are removed before their deliveries': [
      "['attempts', 'deliveries', 'updates']",
      "['deliveries', 'attempts', 'updates']",
    ],
  }),
  ...inFile('core/src/secrets/signed-file.ts', 'core/src/secrets/signed-file.test.ts', {
    'a changed file is not read': [' || !timingSafeEqual(expected, lastBytes)', ''],
  }),
  ...inFile('core/src/history/audit-log.ts', 'core/src/history/audit-log.test.ts', {
    'a record of the audit log commits to the one before': ['`${previous}\\n${text}`', 'text'],
  }),

  // Identity
  ...inFile('core/src/identity/decide-share.ts', 'core/src/identity/decide-share.test.ts', {
    'one redemption of a person is in flight at most': ['leased.length > 0', 'leased.length > 1'],
    'a share token is bound to the integration that shared it': ['donated.donor !== caller', 'donated.donor === null'],
  }),
  ...inFile('core/src/identity/share.ts', 'core/src/identity/share.test.ts', {
    'a token is not sent after its lease': ['clock.now() > sendBy', 'clock.now() < 0'],
  }),
  ...inFile('core/src/identity/reviews.ts', 'core/src/identity/webhooks.test.ts', {
    'a verdict of another level is not applied': ['levelName !== attachedLevel', 'levelName === ""'],
  }),
  ...inFile('core/src/identity/reviews.ts', 'core/src/identity/reviews.test.ts', {
    'the later verdict counts': [
      'return reported.reviewedAt - stored.reviewedAt',
      'return stored.reviewedAt - reported.reviewedAt',
    ],
  }),
  ...inFile('core/src/identity/accounts.ts', 'core/src/identity/accounts.test.ts', {
    'an account that proves another address closes the former subject': [
      'const closed = otherSubjects.filter(({ proved }) => proved)',
      'const closed = otherSubjects.slice(0, 0)',
    ],
  }),
  ...inFile('identity-sumsub/src/webhook-reader.ts', 'identity-sumsub/test/webhook-reader.test.ts', {
    'a forged webhook of the provider is rejected': ['!matches.includes(true)', 'matches.length === 0'],
  }),

  // Chains and the legacy API
  ...inFile('chain-evm/src/read/proven-blocks.ts', 'chain-evm/src/read/proven-blocks.test.ts', {
    'receipts have the root of their header': [
      "if ('root' in wholeRoot && wholeRoot.root === receiptsRoot) return all",
      "if ('root' in wholeRoot) return all",
    ],
  }),
  ...inFile('chain-evm/src/read/range-reader.ts', 'chain-evm/src/read/proven-blocks.test.ts', {
    'each block follows the one before': ['before !== undefined && ref.parentHash !== before.hash', 'before === ref'],
  }),
  ...inFile('chain-evm/src/decode/integrations.ts', 'chain-evm/src/decode/integration-suffix.test.ts', {
    'the first address of a suffix counts': ['.find((code)', '.findLast((code)'],
  }),
  ...inFile('chain-evm/src/decode/router-events.ts', 'chain-evm/src/decode/yodl-decoder.test.ts', {
    'the net amount is without fees': ['net: gross - fees', 'net: gross'],
  }),
  ...inFile('core/src/legacy/finality.ts', 'core/src/legacy/finality.test.ts', {
    'a payment is final after as many blocks as its chain needs': [
      'blockNumber + blocks <= indexedTo',
      'blockNumber + blocks < indexedTo',
    ],
  }),
  ...inFile('core/src/legacy/invoice-and-fees.ts', 'core/src/legacy/lookup-and-verify.test.ts', {
    'equal amounts of another scale are equal': ['return trimDecimal(a) === trimDecimal(b)', 'return a === b'],
  }),
]
