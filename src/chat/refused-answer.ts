import { primaryLanguage } from '../rules/text/language.ts'
import { type Answer, extractName, type Question } from './answerer.ts'
import { withoutCitations } from './citations.ts'

/** Refusals by language without region, for the languages of the analyser. Others are answered in English. */
const refusals: Readonly<Record<string, string>> = {
  af: 'Die kennisbank bevat nie ’n antwoord hierop nie.',
  ar: 'لا تحتوي قاعدة المعرفة على إجابة عن هذا السؤال.',
  bg: 'Базата от знания не съдържа отговор на това.',
  bn: 'জ্ঞানভান্ডারে এর কোনো উত্তর নেই।',
  br: 'N’eus respont ebet d’an dra-se en diaz anaoudegezh.',
  ca: 'La base de coneixement no conté cap resposta a això.',
  cs: 'Znalostní báze na to neobsahuje odpověď.',
  da: 'Vidensbasen har ikke noget svar på det.',
  de: 'Die Wissensdatenbank enthält darauf keine Antwort.',
  el: 'Η βάση γνώσεων δεν περιέχει απάντηση σε αυτό.',
  en: 'The knowledge base does not hold an answer to this.',
  eo: 'La sciobazo ne enhavas respondon al tio.',
  es: 'La base de conocimientos no contiene una respuesta a esto.',
  et: 'Teadmusbaasis ei ole sellele vastust.',
  eu: 'Ezagutza-baseak ez du honen erantzunik.',
  fa: 'پایگاه دانش پاسخی برای این پرسش ندارد.',
  fi: 'Tietämyskannassa ei ole vastausta tähän.',
  fr: 'La base de connaissances ne contient pas de réponse à cette question.',
  ga: 'Níl freagra air seo sa bhunachar eolais.',
  gl: 'A base de coñecemento non contén unha resposta a isto.',
  gu: 'જ્ઞાનકોશમાં આનો જવાબ નથી.',
  ha: 'Babu amsar wannan a cikin rumbun ilimi.',
  he: 'מאגר הידע אינו מכיל תשובה לכך.',
  hi: 'ज्ञानकोश में इसका उत्तर नहीं है।',
  hr: 'Baza znanja ne sadrži odgovor na to.',
  hu: 'A tudásbázis nem tartalmaz erre választ.',
  hy: 'Գիտելիքների բազան սրա պատասխանը չունի։',
  id: 'Basis pengetahuan tidak memuat jawaban atas pertanyaan ini.',
  it: 'La base di conoscenza non contiene una risposta a questa domanda.',
  ja: 'ナレッジベースには、この質問への回答がありません。',
  ko: '지식 베이스에 이 질문에 대한 답변이 없습니다.',
  ku: 'Di bingeha zanînê de bersiva vê tune.',
  la: 'In hac scientiae collectione responsum non est.',
  lg: 'Tewali kya kuddamu ku kino mu tterekero ly’amagezi.',
  lt: 'Žinių bazėje nėra atsakymo į šį klausimą.',
  lv: 'Zināšanu bāzē nav atbildes uz šo jautājumu.',
  mr: 'ज्ञानकोशात याचे उत्तर नाही.',
  ms: 'Pangkalan pengetahuan tidak mengandungi jawapan kepada soalan ini.',
  my: 'အသိပညာသိုလှောင်ရာတွင် ဤမေးခွန်း၏ အဖြေ မရှိပါ။',
  nb: 'Kunnskapsbasen har ikke noe svar på dette.',
  nl: 'De kennisbank bevat hier geen antwoord op.',
  nn: 'Kunnskapsbasen har ikkje noko svar på dette.',
  pl: 'Baza wiedzy nie zawiera odpowiedzi na to pytanie.',
  pt: 'A base de conhecimento não contém uma resposta a esta pergunta.',
  ro: 'Baza de cunoștințe nu conține un răspuns la această întrebare.',
  ru: 'В базе знаний нет ответа на этот вопрос.',
  sk: 'Znalostná báza na to neobsahuje odpoveď.',
  sl: 'Zbirka znanja ne vsebuje odgovora na to vprašanje.',
  so: 'Kaydka aqoontu kuma hayo jawaab su’aashan.',
  st: 'Ha ho karabo ya potso ena polokelong ya tsebo.',
  sv: 'Kunskapsbasen har inget svar på detta.',
  sw: 'Hifadhi ya maarifa haina jibu la swali hili.',
  ta: 'இதற்கான பதில் அறிவுத் தளத்தில் இல்லை.',
  th: 'ฐานความรู้ไม่มีคำตอบสำหรับคำถามนี้',
  tl: 'Walang sagot dito ang knowledge base.',
  tr: 'Bilgi tabanında bunun yanıtı yok.',
  uk: 'База знань не містить відповіді на це запитання.',
  ur: 'علمی ذخیرے میں اس کا جواب موجود نہیں ہے۔',
  vi: 'Cơ sở tri thức không có câu trả lời cho câu hỏi này.',
  yo: 'Kò sí ìdáhùn sí ìbéèrè yìí nínú ibi ìpamọ́ ìmọ̀.',
  zh: '知识库中没有这个问题的答案。',
  'zh-Hant': '知識庫中沒有這個問題的答案。',
  zu: 'Isizinda solwazi asinayo impendulo yalo mbuzo.',
}

/** Answers while the index is built, by language as {@link refusals}. */
const unready: Readonly<Record<string, string>> = {
  de: 'Die Wissensdatenbank wird gerade für die Suche vorbereitet. Bitte fragen Sie gleich noch einmal.',
  en: 'The knowledge base is being prepared for search. Ask again in a moment.',
  es: 'La base de conocimientos se está preparando para la búsqueda. Vuelva a preguntar en un momento.',
  fr: 'La base de connaissances est en cours de préparation pour la recherche. Reposez la question dans un instant.',
  it: 'La base di conoscenza è in preparazione per la ricerca. Ripeta la domanda tra poco.',
  nl: 'De kennisbank wordt klaargemaakt voor het zoeken. Stel de vraag zo meteen opnieuw.',
  pt: 'A base de conhecimento está a ser preparada para a pesquisa. Pergunte novamente daqui a pouco.',
}

/** Returns an answer which says that the index lacks pages, so that a refusal is not certain. */
export function notReady(language: string): Answer {
  const text = unready[primaryLanguage(language)] ?? unready.en ?? ''
  return { text, cited: [], answeredBy: extractName }
}

/** Returns the statement that the knowledge base does not contain the answer. */
export function refusalIn(language: string): string {
  const name = primaryLanguage(language)
  const isTraditional = name === 'zh' && new Intl.Locale(language).maximize().script === 'Hant'
  return refusals[isTraditional ? 'zh-Hant' : name === 'no' ? 'nb' : name] ?? refusals.en ?? ''
}

/** Yields a refusal. */
export async function* refuse(language: string): AsyncGenerator<string, Answer> {
  const text = refusalIn(language)
  yield text
  return { text, cited: [], answeredBy: extractName }
}

/** Yields the answer to a question that names no knowledge base. */
export async function* askForKnowledgeBase(): AsyncGenerator<string, Answer> {
  const text = 'Name the knowledge base that the question is about: `knowledgeBaseId`, a slug or a UUID.'
  yield text
  return { text, cited: [], answeredBy: extractName }
}

/** Quotations of passages: an answer, or the nearest passages. `seqIds`: their pages. */
export type Extract = {
  isAnswer: boolean
  /** True if one of two questions is not answered. */
  isPartial: boolean
  pieces: string[]
  seqIds: string[]
  /** Score of the best unit, which decides whether it answers. */
  score: number
}

/** Yields an extract. Quotations that are not an answer follow a refusal, without citations. */
export async function* answerFrom(
  { isAnswer, isPartial, pieces, seqIds }: Extract,
  { language }: Pick<Question, 'language'>,
): AsyncGenerator<string, Answer> {
  if (isAnswer) {
    yield* pieces
    return { text: pieces.join(''), cited: seqIds, answeredBy: extractName, ...(isPartial && { isPartial }) }
  }
  const refusal = refusalIn(language)
  const near = withoutCitations(pieces.join('')).replace(/^/gm, '> ')
  const text = pieces.length === 0 ? refusal : `${refusal}\n\n${near}`
  yield text
  return { text, cited: [], answeredBy: extractName, ...(seqIds.length > 0 && { shown: seqIds }) }
}
