import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { clientNetwork } from '../../rules/access/client-network.ts'
import { callerOf } from './auth.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rate limit of the route; by default GET and HEAD are reads, and all others are writes. */
    rate?: keyof Rates
  }
}

/** Default number of requests per minute of one API key. */
export type Rates = { read: number; write: number; chat: number }

/** Free fraction of the disk below which writes are rejected. */
const minFreeDisk = 0.05
/** Milliseconds for which a measurement of the disk is reused. */
const diskCheckInterval = 3000

/** Maximum number of open event streams. */
const maxStreams = { caller: 10, tenant: 100 }

export type Limits = {
  /**
   * Counts a request of a caller, or several, and sets the headers `ratelimit-…`. Throws `rate_limited` and sets the header
   * `retry-after` to the seconds to wait.
   */
  countRequest(request: FastifyRequest, reply: FastifyReply, rate: keyof Rates, count?: number): Promise<void>
  /**
   * Counts a request of a network without a caller, under a name; see `clientNetwork`. Beyond `most` a minute it throws `rate_limited` and
   * sets the header `retry-after`.
   */
  countNetwork(request: FastifyRequest, reply: FastifyReply, bound: { name: string; most: number }): Promise<void>
  /**
   * Counts an event stream as open until the returned function is called. Throws `rate_limited` if the caller or its tenant has
   * too many.
   */
  openStream(caller: Caller): () => void
  openStreams(): number
  /** Throws `insufficient_storage` while the disk is nearly full. */
  checkDisk(): Promise<void>
}

export function createLimits(rates: Rates, ctx: AppContext): Limits {
  const streams = new Map<string, number>()
  let measured: { at: number; ratio: Promise<number> } | undefined
  const countUnder = async (name: string, count: number) => {
    const { points, endsIn } = await ctx.requestCounter.add(name, count)
    return { points, seconds: Math.max(1, Math.ceil(endsIn / 1000)) }
  }

  return {
    async countRequest(request, reply, rate, count = 1) {
      const { points, seconds } = await countUnder(`${rate} ${callerOf(request).id}`, count)
      const limit = rates[rate]
      reply.headers({
        'ratelimit-limit': limit,
        'ratelimit-remaining': Math.max(0, limit - points),
        'ratelimit-reset': seconds,
      })
      if (points <= limit) return
      reply.header('retry-after', seconds)
      throw new GanglionError('rate_limited', `Too many requests; try again in ${seconds} s.`)
    },
    async countNetwork({ ip }, reply, { name, most }) {
      const { points, seconds } = await countUnder(`${name} ${clientNetwork(ip)}`, 1)
      if (points <= most) return
      reply.header('retry-after', seconds)
      throw new GanglionError('rate_limited')
    },
    openStream({ id, tenantId }) {
      const bounds = [
        { name: id, max: maxStreams.caller },
        { name: `tenant ${tenantId}`, max: maxStreams.tenant },
      ]
      const open = (name: string) => streams.get(name) ?? 0
      if (bounds.some(({ name, max }) => open(name) >= max)) {
        throw new GanglionError('rate_limited', 'Too many event streams are open.')
      }
      for (const { name } of bounds) streams.set(name, open(name) + 1)
      return () => {
        for (const { name } of bounds) {
          if (open(name) > 1) streams.set(name, open(name) - 1)
          else streams.delete(name)
        }
      }
    },
    openStreams() {
      return [...streams].reduce((sum, [name, count]) => sum + (name.startsWith('tenant ') ? count : 0), 0)
    },
    async checkDisk() {
      const now = performance.now()
      if (measured === undefined || now - measured.at > diskCheckInterval) {
        measured = { at: now, ratio: ctx.directory.freeRatio() }
      }
      if ((await measured.ratio) < minFreeDisk) throw new GanglionError('insufficient_storage')
    },
  }
}

export function rateOf({ method, routeOptions }: FastifyRequest): keyof Rates {
  return routeOptions.config.rate ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write')
}
