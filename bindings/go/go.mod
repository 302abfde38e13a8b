module lib3pt/threept

go 1.24
