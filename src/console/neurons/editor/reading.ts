import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../../../http/services.ts'

/** A request for a place of a knowledge base, and what answers it. */
export type Reading<Place> = {
  services: Services
  request: FastifyRequest
  reply: FastifyReply
  place: Place
}

/** A page that is there. */
export type PagePlace = { kb: string; seqId: string }
