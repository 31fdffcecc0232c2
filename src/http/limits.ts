import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../contract/errors.ts'
import { callerOf } from './auth.ts'
import type { Services } from './services.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request counts as; without it, GET and HEAD are reads and the rest are writes. */
    rate?: keyof Rates
  }
}

/** Requests of one API key in a minute. */
export type Rates = { read: number; write: number; chat: number }

/** The part of the disk that writes leave free. */
const minFreeDisk = 0.05
/** Milliseconds for which a measurement of the disk holds. */
const diskCheckInterval = 3000

/** What bounds the work of one server, asked for once the caller is known. */
export type Limits = {
  /** Counts a request of an API key. Throws `rate_limited`, with the seconds to wait in the header `retry-after`. */
  countRequest(request: FastifyRequest, reply: FastifyReply, rate: keyof Rates): Promise<void>
  /** Throws `insufficient_storage` while the disk is nearly full. */
  checkDisk(): Promise<void>
}

export async function createLimits(
  app: FastifyInstance,
  rates: Rates,
  services: Pick<Services, 'freeDiskRatio'>,
): Promise<Limits> {
  await app.register(rateLimit, { global: false })
  const perMinute = (max: number) =>
    app.createRateLimit({ max, timeWindow: 60_000, keyGenerator: (request) => callerOf(request).keyId })
  const limiters = { read: perMinute(rates.read), write: perMinute(rates.write), chat: perMinute(rates.chat) }
  let measured: { at: number; ratio: Promise<number> } | undefined

  return {
    async countRequest(request, reply, rate) {
      const use = await limiters[rate](request)
      if (use.isAllowed || !use.isExceeded) return
      const seconds = Math.max(1, use.ttlInSeconds)
      reply.header('retry-after', seconds)
      throw new GanglionError('rate_limited', `Too many requests; try again in ${seconds} s.`)
    },
    async checkDisk() {
      const now = performance.now()
      if (measured === undefined || now - measured.at > diskCheckInterval) {
        measured = { at: now, ratio: services.freeDiskRatio() }
      }
      if ((await measured.ratio) < minFreeDisk) throw new GanglionError('insufficient_storage')
    },
  }
}

/** What the route of a request counts as. */
export function rateOf({ method, routeOptions }: FastifyRequest): keyof Rates {
  return routeOptions.config.rate ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write')
}
