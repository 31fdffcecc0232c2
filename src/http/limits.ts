import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { GanglionError } from '../contract/errors.ts'
import { callerOf } from './auth.ts'
import type { Services } from './services.ts'

/** Requests of one API key in a minute. */
export type Rates = { reads: number; writes: number }

/** The part of the disk that writes leave free. */
const minFreeDisk = 0.05
/** Milliseconds for which a measurement of the disk holds. */
const diskCheckInterval = 3000

/** A hook, after authentication, that bounds the rate of each API key. Throws `rate_limited`. */
export async function limitRates(app: FastifyInstance, rates: Rates): Promise<onRequestAsyncHookHandler> {
  await app.register(rateLimit, { global: false })
  const perMinute = (max: number) =>
    app.createRateLimit({ max, timeWindow: 60_000, keyGenerator: (request) => callerOf(request).keyId })
  const limiters = { read: perMinute(rates.reads), write: perMinute(rates.writes) }

  return async (request, reply) => {
    const use = await limiters[isWrite(request) ? 'write' : 'read'](request)
    if (use.isAllowed || !use.isExceeded) return
    reply.header('retry-after', Math.max(1, use.ttlInSeconds))
    throw new GanglionError('rate_limited')
  }
}

/** A hook that throws `insufficient_storage` for writes while the disk is nearly full. */
export function guardDisk(services: Pick<Services, 'freeDiskRatio'>): onRequestAsyncHookHandler {
  let measured: { at: number; ratio: Promise<number> } | undefined
  return async (request) => {
    if (!isWrite(request)) return
    const now = performance.now()
    if (measured === undefined || now - measured.at > diskCheckInterval) {
      measured = { at: now, ratio: services.freeDiskRatio() }
    }
    if ((await measured.ratio) < minFreeDisk) throw new GanglionError('insufficient_storage')
  }
}

function isWrite({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD'
}
