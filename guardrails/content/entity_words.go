package content

import "bytes"

// The words in this file have no marks, because folded text has none.

// isTitle reports whether a name follows the word.
func isTitle(word []byte) bool {
	switch string(word) {
	case "Mr", "Mrs", "Ms", "Miss", "Mx", "Dr", "Prof", "Professor", "Doctor", "Sir", "Lady", "Rev",
		"Herr", "Frau", "Madame", "Monsieur", "Mme", "Senor", "Senora", "Judge", "Officer", "Captain", "Sgt":
		return true
	}
	return false
}

// isParticle reports whether the word may occur inside a name.
func isParticle(word []byte) bool {
	switch string(word) {
	case "van", "von", "der", "den", "de", "da", "di", "del", "della", "la", "le", "du", "des", "bin", "ibn", "al", "el", "ter", "zu", "y":
		return true
	}
	return false
}

// isCommonCapital reports whether a capitalised word is unlikely to be a name.
func isCommonCapital(word []byte) bool {
	switch string(word) {
	case "The", "This", "That", "These", "Those", "And", "But", "Or", "For", "From", "With", "Will", "Would", "Can",
		"Could", "Should", "Is", "Was", "Has", "Have", "Had", "Are", "Were", "Be", "Been", "Do", "Does", "Did", "Not", "No", "Yes",
		"It", "He", "She", "We", "You", "They", "My", "Your", "Our", "His", "Her", "Their", "In", "On", "At", "By", "To",
		"Of", "As", "If", "When", "Where", "Who", "What", "Why", "How", "Please", "Thanks", "Thank", "Hello", "Hi", "Dear",
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
		"Street", "Road", "Avenue", "Lane", "Drive", "Park", "Bridge", "River", "Lake", "Mountain", "County", "City",
		"University", "College", "School", "Hospital", "Airport", "Station", "Church", "Center", "Centre", "Museum", "Library",
		"Bank", "Company", "Inc", "Ltd", "Corp", "Corporation", "Group", "Foundation", "Institute", "Department", "Office",
		"Service", "Services", "Support", "Team", "Customer", "Sales", "Manager", "Sir", "Madam", "All", "Everyone", "Account",
		"Islands", "Island", "Valley", "Beach", "Hotel", "Day", "Award", "Prize", "Cup", "Act", "Law", "Theorem", "Syndrome",
		"Disease", "Stadium", "Tower", "Square", "Hall", "House", "Building", "Plaza":
		return true
	}
	return false
}

// isStreet reports whether an English street may end with the word.
func isStreet(word []byte) bool {
	switch string(word) {
	case "Street", "St", "Avenue", "Ave", "Road", "Rd", "Boulevard", "Blvd", "Lane", "Ln", "Drive", "Dr", "Court", "Ct",
		"Place", "Pl", "Square", "Sq", "Terrace", "Ter", "Highway", "Hwy", "Parkway", "Pkwy", "Circle", "Cir", "Way", "Close",
		"Crescent", "Alley", "Trail", "Trl", "Row", "Mews", "Gardens", "Grove", "Hill", "street", "avenue", "road", "boulevard", "lane":
		return true
	}
	return false
}

// isWay reports whether a French or Spanish street may begin with the word.
func isWay(word []byte) bool {
	switch string(bytes.ToLower(word)) {
	case "rue", "avenue", "boulevard", "chemin", "quai", "impasse", "calle", "avenida", "via", "piazza":
		return true
	}
	return false
}

// isGivenName reports whether the word is a common given name and not also a common word.
func isGivenName(word []byte) bool {
	switch string(word) {
	case "James", "John", "Robert", "Michael", "William", "David", "Richard", "Joseph", "Thomas", "Charles", "Christopher",
		"Daniel", "Matthew", "Anthony", "Donald", "Steven", "Paul", "Andrew", "Joshua", "Kenneth", "Kevin", "Brian", "George",
		"Timothy", "Ronald", "Edward", "Jason", "Jeffrey", "Ryan", "Jacob", "Gary", "Nicholas", "Eric", "Jonathan", "Stephen",
		"Larry", "Justin", "Scott", "Brandon", "Benjamin", "Samuel", "Gregory", "Alexander", "Patrick", "Raymond",
		"Jack", "Dennis", "Jerry", "Tyler", "Aaron", "Jose", "Adam", "Nathan", "Henry", "Zachary", "Douglas", "Peter",
		"Kyle", "Noah", "Ethan", "Jeremy", "Walter", "Keith", "Roger", "Terry", "Harry", "Oliver", "Liam", "Lucas", "Simon",
		"Mary", "Patricia", "Jennifer", "Linda", "Elizabeth", "Barbara", "Susan", "Jessica", "Sarah", "Karen", "Lisa", "Nancy",
		"Betty", "Sandra", "Margaret", "Ashley", "Kimberly", "Emily", "Donna", "Michelle", "Carol", "Amanda", "Melissa",
		"Deborah", "Stephanie", "Rebecca", "Sharon", "Laura", "Cynthia", "Dorothy", "Amy", "Kathleen", "Angela", "Shirley",
		"Emma", "Brenda", "Pamela", "Nicole", "Anna", "Samantha", "Katherine", "Christine", "Helen", "Debra", "Rachel",
		"Carolyn", "Janet", "Maria", "Olivia", "Heather", "Diane", "Julie", "Joyce", "Victoria", "Ruth", "Virginia",
		"Lauren", "Kelly", "Christina", "Joan", "Evelyn", "Judith", "Andrea", "Hannah", "Megan", "Alice", "Jane", "Julia",
		"Sophie", "Sophia", "Charlotte", "Isabella", "Claire", "Lucy", "Eva", "Martha", "Diana", "Natalie",
		"Hans", "Klaus", "Jurgen", "Wolfgang", "Stefan", "Andreas", "Matthias", "Sebastian", "Florian", "Tobias", "Lukas", "Felix",
		"Sabine", "Petra", "Monika", "Ursula", "Katharina", "Heike", "Anja", "Silke", "Greta", "Lena",
		"Pierre", "Jean", "Francois", "Michel", "Jacques", "Marie", "Camille", "Chloe", "Juan", "Carlos", "Luis", "Miguel", "Javier",
		"Antonio", "Manuel", "Pedro", "Diego", "Ana", "Carmen", "Lucia", "Elena", "Sofia", "Giovanni", "Marco", "Luca", "Giulia",
		"Francesca", "Chiara", "Ivan", "Dmitri", "Sergei", "Olga", "Natasha", "Svetlana", "Mohammed", "Muhammad", "Ahmed", "Ali",
		"Omar", "Fatima", "Aisha", "Hassan", "Yusuf", "Ibrahim", "Priya", "Raj", "Rahul", "Amit", "Anjali", "Sanjay", "Deepak",
		"Sunita", "Arjun", "Wei", "Ming", "Hiroshi", "Yuki", "Kenji", "Sakura", "Kim", "Nguyen", "Lars", "Erik", "Ingrid", "Astrid",
		"Bob", "Mike", "Tom", "Dave", "Steve", "Jim", "Joe", "Dan", "Ben", "Sam", "Alex", "Chris", "Matt", "Nick", "Tony", "Kate",
		"Liz", "Jenny", "Becky", "Sue", "Ann", "Anne", "Jill", "Beth", "Meg":
		return true
	}
	return false
}
