import { benchProcesses } from './bench/notifications/processes.js'
import { postgresDatabase } from './bench/read-api/database.js'
console.log(await benchProcesses(postgresDatabase, { delays: [0, 50, 500], processes: [1, 2], connections: 2_000, deliveries: 10_000, rounds: 2, paceSeconds: 3 }))
