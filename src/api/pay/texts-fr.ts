// The texts of the checkout pages in French.
import type { Texts } from './texts-en.ts';

export const FRENCH: Texts = {
  language: 'Français',
  languages: 'Langue',
  test: 'Test : aucun argent réel ne circule ici.',
  'form.title': 'Payer {merchant}',
  'form.amount': 'Montant',
  'form.reference': 'Référence',
  'form.description': 'Pour',
  'words.by': 'Écrit par {merchant}',
  'form.phone': 'Votre numéro mobile money',
  'form.phone.hint': 'Par exemple {example}. Fonctionne avec : {operators}.',
  'form.country': 'Pays du numéro',
  'form.operator': 'Si vous avez transféré ce numéro chez l’un de ces opérateurs, choisissez-le',
  'form.pin':
    'Une demande arrive sur ce téléphone, et vous l’approuvez là avec votre code PIN. Ne tapez jamais votre code PIN sur une page web.',
  'form.pay': 'Payer {amount}',
  'form.until': 'Ouvert jusqu’au {time}.',
  'form.last': 'Vous avez déjà payé ici.',
  'form.last.link': 'Voir votre dernier paiement',
  'error.title': 'Il y a un problème',
  'error.phone.missing': 'Tapez votre numéro mobile money.',
  'error.phone.invalid': 'Nous ne reconnaissons pas ce numéro de mobile. Tapez-le comme {example}.',
  'error.phone.unsupported':
    'On ne peut pas payer ici avec ce numéro. Cela fonctionne avec : {operators}. Utilisez un autre numéro.',
  'error.phone.longer':
    'Les numéros de mobile sont devenus plus longs ({countries}), et celui-ci est un ancien numéro. Tapez-le comme {examples}.',
  'error.phone.country': 'Ce numéro existe dans plusieurs pays. Choisissez le vôtre ci-dessous.',
  'error.amount':
    'Ce montant ne peut pas être payé avec ce numéro. Demandez à {merchant} que faire, ou utilisez un autre numéro.',
  'starting.title': 'Demande en cours auprès de {operator}',
  'starting.text': '{operator} va envoyer une demande au {phone}. Gardez le téléphone à portée de main.',
  'prompted.title': 'Approuvez sur votre téléphone',
  'prompted.text': '{operator} a envoyé une demande de {amount} au {phone}.',
  'prompted.countdown': 'Elle reste ouverte pendant (minutes:secondes)',
  'steps.title': 'Que faire',
  'steps.open': 'Ouvrez la demande sur le téléphone {phone}.',
  'steps.check': 'Vérifiez qu’elle indique {amount}.',
  'steps.pin': 'Tapez votre code PIN sur le téléphone pour l’approuver.',
  'steps.dial': 'Pas de demande ? Composez {ussd} et cherchez les approbations en attente.',
  'steps.menu': 'Pas de demande ? Ouvrez le menu ou l’application {operator} et cherchez les approbations en attente.',
  'steps.number':
    'Ce n’est pas votre numéro ? Ne faites rien : la demande se termine d’elle-même, puis vous pourrez utiliser un autre numéro.',
  'checking.title': 'En attente de {operator}',
  'checking.text':
    '{operator} n’a pas encore dit si vous avez payé. Ne payez pas une deuxième fois. Dès que c’est connu, cette page le dit.',
  'live.auto': 'Cette page vérifie d’elle-même toutes les quelques secondes.',
  'live.check': 'Vérifier à nouveau',
  'live.paidBefore':
    'C’est déjà payé, par une demande précédente. N’approuvez pas la demande qui est maintenant sur le téléphone.',
  'paid.title': 'Payé',
  'paid.text': '{merchant} a reçu votre paiement de {amount}.',
  'paid.twice':
    'Ceci a été payé plus d’une fois. Demandez à {merchant} de rendre un des paiements, et montrez-lui les reçus.',
  'paid.receipt': 'Reçu',
  'returned.title': 'Votre argent vous a été rendu',
  'returned.text': 'Vous avez payé {amount}, et {operator} vous l’a rendu depuis.',
  'undecided.title': 'On ne sait pas si vous avez payé',
  'undecided.text':
    'Regardez vos messages de {operator}. Pour que vous ne payiez pas deux fois, plus rien n’est encaissé ici pour cela. Demandez à {merchant}, en donnant la référence ci-dessous.',
  'over.title': 'Non payé',
  'over.again': 'Envoyer une nouvelle demande au {phone}',
  'over.other': 'Utiliser un autre numéro',
  'over.elsewhere': 'C’est déjà payé, par une autre demande. Vous n’avez plus rien à faire.',
  'over.busy': 'Une autre tentative de payer ceci est en cours.',
  'over.waiting':
    'Vous pourrez réessayer à partir de {time}. D’ici là, nous vérifions que la première demande n’a pas été payée malgré tout, pour que vous ne payiez pas deux fois.',
  'over.closed':
    'Aucune nouvelle demande ne peut être envoyée : cette page de paiement est fermée. Demandez-en une autre à {merchant}.',
  'return.link': 'Retour à {merchant} ({host})',
  'receipt.title': 'Reçu',
  'receipt.to': 'Payé à',
  'receipt.time': 'Payé le',
  'receipt.from': 'Payé avec',
  'receipt.id': 'Notre numéro du paiement',
  'receipt.operator': 'Reçu de {operator}',
  'receipt.returned': 'Cet argent a été rendu depuis.',
  'receipt.print': 'Pour le garder, imprimez cette page ou enregistrez-la avec votre navigateur.',
  'receipt.back': 'Retour au paiement',
  'completed.title': 'C’est payé',
  'completed.text': '{merchant} a été payé. Il n’y a plus rien à faire ici.',
  'expired.title': 'Cette page de paiement est fermée',
  'expired.text': 'Son délai est passé, et elle ne prend plus de paiement. Demandez-en une autre à {merchant}.',
  'cancelled.title': 'Cette page de paiement est fermée',
  'cancelled.text': '{merchant} l’a fermée. Demandez-lui que faire.',
  'busy.title': 'Un paiement est en cours',
  'busy.text':
    'Quelqu’un est en train de payer ceci. Si c’est vous, approuvez la demande sur votre téléphone. Si cela échoue, vous pourrez réessayer ici.',
  'doubt.title': 'Aucun paiement n’est pris ici pour le moment',
  'doubt.text':
    'On ne sait pas si une tentative précédente a été payée. Pour que personne ne paie deux fois, plus rien n’est encaissé ici pour cela. Demandez à {merchant}.',
  'unserved.text':
    'Aucun opérateur de mobile money ne prend ce montant dans cette monnaie ici. Demandez à {merchant} un autre moyen de payer.',
  'waiting.title': 'Un instant, s’il vous plaît',
  'unknown.title': 'Cette page de paiement n’existe pas',
  'unknown.text': 'Vérifiez l’adresse, ou demandez à la personne qui vous l’a envoyée.',
  'limited.title': 'Trop de tentatives',
  'limited.text': 'Rien n’a été envoyé à un téléphone. Attendez {minutes} min, puis réessayez.',
  'stale.title': 'Ce formulaire ne peut pas être utilisé',
  'stale.text':
    'Il ne venait pas de notre page, ou votre navigateur n’a pas renvoyé son cookie. Autorisez les cookies pour ce site, et ouvrez la page à nouveau.',
  'away.title': 'Nous ne pouvons pas prendre votre paiement pour le moment',
  'away.text': 'Rien n’a été envoyé à votre téléphone par cet essai. Attendez une minute, puis réessayez.',
  'failed.title': 'Une erreur s’est produite',
  'failed.text':
    'La faute est de notre côté. Ouvrez la page à nouveau : elle vous dit si une demande a été envoyée à votre téléphone.',
  'request.id': 'Si vous demandez de l’aide, donnez : {id}',
  'page.open': 'Ouvrir la page à nouveau',
  'failure.payer_cancelled':
    'La demande a été refusée sur le téléphone. Si vous voulez payer, envoyez-en une nouvelle.',
  'failure.wrong_pin':
    'Le code PIN était faux. Envoyez une nouvelle demande et tapez le bon. Vous l’avez oublié ? Demandez à {operator}.',
  'failure.insufficient_funds':
    'Il n’y a pas assez d’argent sur le compte pour ce montant et les frais de {operator}. Ajoutez de l’argent, puis envoyez une nouvelle demande, ou utilisez un autre numéro.',
  'failure.prompt_expired':
    'La demande n’a pas été approuvée à temps, et {operator} l’a fermée. Préparez le téléphone, puis envoyez-en une nouvelle.',
  'failure.payer_unreachable':
    'Le téléphone n’a pas pu être joint. Allumez-le, allez là où il y a du réseau, puis envoyez une nouvelle demande.',
  'failure.payer_not_found':
    'Ce numéro n’a pas de compte mobile money chez {operator}. Vérifiez le numéro, ou utilisez-en un autre.',
  'failure.payer_limit_reached':
    'Le compte a atteint une limite de {operator}. Utilisez un autre numéro, ou réessayez demain.',
  'failure.payer_busy':
    'Une autre demande est ouverte sur le téléphone. Répondez à celle-là, attendez une minute, puis envoyez-en une nouvelle.',
  'failure.amount_not_allowed':
    '{operator} n’autorise pas ce montant pour ce compte. Utilisez un autre numéro, ou demandez à {merchant}.',
  'failure.operator_unavailable':
    '{operator} n’a pas pu prendre la demande. Personne n’a été invité à payer. Réessayez dans quelques minutes.',
  'failure.service_unavailable':
    'Nous n’avons pas pu joindre {operator} à temps. Personne n’a été invité à payer. Réessayez dans quelques minutes.',
  'failure.already_returned': '{operator} vous a rendu l’argent.',
  'failure.operator_rejected':
    '{operator} a refusé la demande. Réessayez, ou utilisez un autre numéro. Si cela se répète, demandez à {merchant}.',
  'failure.unknown':
    '{operator} n’a jamais dit comment cela s’est terminé. Regardez vos messages de {operator}, et demandez à {merchant} avant de payer à nouveau.',
};
