import { GanglionError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import type { Delivery, ForgeKind } from '../forge-adapter.ts'
import { isSigned } from '../open-forge.ts'
import { readSecret } from './secret-reference.ts'

/**
 * Receives a webhook of a forge and notifies the bridge of its link. The content of the webhook is never read, so duplicates, delays and
 * losses are harmless.
 * @throws {GanglionError} `not_found` if there is no such link, or it takes no webhooks; `invalid_token` if the signature is not the
 * forge's
 */
export async function receiveDelivery(
  { forgeLinks, database }: Pick<Context, 'forgeLinks' | 'database'>,
  env: NodeJS.ProcessEnv,
  linkId: string,
  delivery: Delivery,
): Promise<void> {
  const link = isUuid(linkId) ? await forgeLinks.find(linkId) : undefined
  if (link === undefined || link.webhookSecret === null) throw new GanglionError('not_found')
  const secret = await readSecret(link.webhookSecret, env)
  if (!isSigned(link.kind as ForgeKind, secret, delivery)) throw new GanglionError('invalid_token')
  await database.notifications.send(database.db, 'forge', link.id)
}
