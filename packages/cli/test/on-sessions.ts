import { openService, readConfig } from '@payment-integration/server/service'

/** Runs work on the sessions of the database, as a server does. */
export async function onSessions<T>(
  env: Record<string, string>,
  work: (sessions: Awaited<ReturnType<typeof openService>>['service']['operatorSessions']) => Promise<T>,
): Promise<T> {
  const { service, close } = await openService(readConfig({ ...env, PI_LOG_LEVEL: 'silent' }))
  try {
    return await work(service.operatorSessions)
  } finally {
    await close()
  }
}
