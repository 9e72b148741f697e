/** Text from arguments, and from a server that is asked, takes time that grows with its length at most. @module */
import { testGrowth } from '../../../vitest.growth.js'
import { withFlags } from './commands/config-flags.js'
import { plain } from './output/plain.js'
import { parseAcceptedTokens } from './parse/accepted-tokens.js'
import { parseActor } from './parse/actor.js'
import { parseChainAddress } from './parse/chain-address.js'
import { parseDuration } from './parse/duration.js'
import { parseKeptRecord } from './parse/kept-record.js'
import { moment } from './parse/moment.js'
import { parseNotificationUrl } from './parse/notification-url.js'
import { parseEndpoint } from './reindex/choose-endpoints.js'
import { readHealth } from './status/read-health.js'
import { parseServerUrl } from './status/server-url.js'

testGrowth(
  {
    'the address of a database': (database) => withFlags({}, { database }),
    'a text that is shown': plain,
    'accepted tokens': (text) => parseAcceptedTokens(text),
    'an actor': parseActor,
    'the address on a chain': (text) => parseChainAddress(text),
    'a duration': parseDuration,
    'a record of the audit log': parseKeptRecord,
    'a moment': moment(() => 0),
    'a notification URL': parseNotificationUrl,
    'an endpoint': parseEndpoint,
    'the health of a server': readHealth,
    'the address of a server': parseServerUrl,
  },
  { begins: ['postgres://', 'https://a/', '1:', '2024-01-01'], parts: ['1:A,', ':a@', '1h', ' \u200b'] },
)
