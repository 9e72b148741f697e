/** Parsing text of arguments and of servers takes time at most proportional to its length. @module */
import { testGrowth } from '../../../tools/scripts/growth.js'
import {
  momentParser,
  parseAcceptedTokens,
  parseActor,
  parseChainAddress,
  parseDuration,
  parseExpectedRecord,
  parseHttpUrl,
} from './command.js'
import { parseNode } from './commands/chains.js'
import { parseHealth, parseServerUrl } from './commands/status.js'
import { plain } from './output.js'
import { withFlags } from './with-service.js'

testGrowth(
  {
    'the address of a database': (database) => withFlags({}, { database }),
    'a text that is shown': plain,
    'accepted tokens': (text) => parseAcceptedTokens(text),
    'an actor': parseActor,
    'the address on a chain': (text) => parseChainAddress(text),
    'a duration': parseDuration,
    'a record of the audit log': parseExpectedRecord,
    'a moment': momentParser({ now: () => 0 }),
    'a notification URL': parseHttpUrl,
    'a node': parseNode,
    'the health of a server': parseHealth,
    'the address of a server': parseServerUrl,
  },
  { begins: ['postgres://', 'https://a/', '1:', '2024-01-01'], parts: ['1:A,', ':a@', '1h', ' \u200b'] },
)
