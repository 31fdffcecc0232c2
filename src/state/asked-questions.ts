import { sql } from 'kysely'
import type { Camel } from './database/row-values.ts'
import type { RowOf } from './database/schema.ts'
import { deleteRows, findRow, Store } from './database/store.ts'
import { inTransaction } from './database/transaction.ts'

/** Question in a list. `opened`: results that people opened, most often opened first. */
export type AskedQuestion = Omit<Camel<RowOf<'asked_questions'>>, 'kbId'> & {
  opened: { seqId: string; times: number }[]
}

export type QuestionCounts = Pick<RowOf<'asked_questions'>, QuestionOrder>

export const questionOrders = ['asked', 'empty', 'refused', 'down'] as const
export type QuestionOrder = (typeof questionOrders)[number]

/** Maximum questions stored for one knowledge base. Beyond it, those that were not asked for longest are removed. */
export const maxQuestions = 5_000

/** Counts the questions that people ask knowledge bases, without the names of the people. */
export class AskedQuestions extends Store {
  /** Adds to the counts of a question, which is stored if it is new. */
  async note(kbId: string, question: string, more: Partial<QuestionCounts>, now: Date): Promise<void> {
    const { asked = 0, empty = 0, refused = 0, down = 0 } = more
    const at = now.toISOString()
    await this.db
      .insertInto('asked_questions')
      .values({ kb_id: kbId, question, asked, empty, refused, down, asked_at: at })
      .onConflict((conflict) =>
        conflict.columns(['kb_id', 'question']).doUpdateSet({
          asked: sql`asked_questions.asked + ${asked}`,
          empty: sql`asked_questions.empty + ${empty}`,
          refused: sql`asked_questions.refused + ${refused}`,
          down: sql`asked_questions.down + ${down}`,
          asked_at: at,
        }),
      )
      .execute()
  }

  /** Notes several questions in one write, without those of knowledge bases that were removed meanwhile. */
  async noteAll(notes: readonly Parameters<AskedQuestions['note']>[]): Promise<void> {
    await inTransaction(this.db, async (transaction) => {
      const asked = new AskedQuestions(transaction)
      const wanted = [...new Set(notes.map(([kbId]) => kbId))]
      const rows = await transaction.selectFrom('knowledge_bases').select('id').where('id', 'in', wanted).execute()
      const known = new Set(rows.map(({ id }) => id))
      for (const note of notes) if (known.has(note[0])) await asked.note(...note)
    })
  }

  /** Counts that a result of a question was opened. Ignores questions that nobody has asked. */
  async noteOpened(kbId: string, question: string, seqId: string): Promise<void> {
    if ((await findRow(this.db, 'asked_questions', { kb_id: kbId, question })) === undefined) return
    await this.db
      .insertInto('opened_results')
      .values({ kb_id: kbId, question, seq_id: seqId, times: 1 })
      .onConflict((conflict) =>
        conflict.columns(['kb_id', 'question', 'seq_id']).doUpdateSet({ times: sql`opened_results.times + 1` }),
      )
      .execute()
  }

  /** Returns a page of questions, sorted by one of their counts, without those whose count is 0. */
  async list(
    kbId: string,
    { order, offset, limit }: { order: QuestionOrder; offset: number; limit: number },
  ): Promise<AskedQuestion[]> {
    const questions = await this.db
      .selectFrom('asked_questions')
      .select(['question', 'asked', 'empty', 'refused', 'down', 'asked_at as askedAt'])
      .where('kb_id', '=', kbId)
      .where(order, '>', 0)
      .orderBy(order, 'desc')
      .orderBy('question')
      .offset(offset)
      .limit(limit)
      .execute()
    if (questions.length === 0) return []
    const listed = questions.map(({ question }) => question)
    const opened = await this.db
      .selectFrom('opened_results')
      .select(['question', 'seq_id as seqId', 'times'])
      .where('kb_id', '=', kbId)
      .where('question', 'in', listed)
      .orderBy('times', 'desc')
      .orderBy('seq_id')
      .execute()
    const of = Map.groupBy(opened, ({ question }) => question)
    return questions.map((one) => ({
      ...one,
      opened: (of.get(one.question) ?? []).map(({ seqId, times }) => ({ seqId, times })),
    }))
  }

  async remove(kbId: string, question: string): Promise<void> {
    await inTransaction(this.db, async (transaction) => {
      for (const table of ['opened_results', 'asked_questions'] as const)
        await deleteRows(transaction, table, { kb_id: kbId, question })
    })
  }

  /** Removes questions that were last asked at a time or before, and those beyond {@link maxQuestions}. */
  async removeOld(kbId: string, time: string): Promise<void> {
    const beyond = await this.db
      .selectFrom('asked_questions')
      .select('asked_at')
      .where('kb_id', '=', kbId)
      .orderBy('asked_at', 'desc')
      .offset(maxQuestions)
      .limit(1)
      .executeTakeFirst()
    const at = beyond !== undefined && beyond.asked_at > time ? beyond.asked_at : time
    await inTransaction(this.db, async (transaction) => {
      const old = transaction
        .selectFrom('asked_questions')
        .select('question')
        .where('kb_id', '=', kbId)
        .where('asked_at', '<=', at)
      await transaction.deleteFrom('opened_results').where('kb_id', '=', kbId).where('question', 'in', old).execute()
      await transaction.deleteFrom('asked_questions').where('kb_id', '=', kbId).where('asked_at', '<=', at).execute()
    })
  }
}
