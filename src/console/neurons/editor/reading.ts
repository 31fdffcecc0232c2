import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../../app/open-context.ts'

/** A request for a place of a knowledge base, and what answers it. */
export type Reading<Place> = {
  ctx: AppContext
  request: FastifyRequest
  reply: FastifyReply
  place: Place
}

export type PagePlace = { kb: string; seqId: string }
